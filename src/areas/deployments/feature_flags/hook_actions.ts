/** Webhook events for feature flags (docs/reference/feature_flags.md#webhooks). */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { personFacts, projectFacts, type Sample, userUrlFacts } from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/** @param which a predicate on rows of `feature_flags` */
const rowsOf = (which: RawBuilder<unknown>, user_id: number) => sql`
  select feature_flags.project_id, namespaces.traversal_ids as group_ids, feature_flags.id, feature_flags.name, feature_flags.description,
         feature_flags.active, ${user_id}::bigint as user_id
    from feature_flags join projects on projects.id = feature_flags.project_id join namespaces on namespaces.id = projects.namespace_id
   where ${which}`;

/** For the row aliased `news`. */
const facts = sql`json_build_object(
  'object_kind', 'feature_flag', 'project', ${projectFacts(sql`news.project_id`)}, 'user', ${personFacts(sql`news.user_id`)},
  'user_url', ${userUrlFacts(sql`news.user_id`)},
  'object_attributes', json_build_object('id', news.id, 'name', news.name, 'description', news.description, 'active', news.active))`;

/** @param tx the transaction of the change; before a deletion, call this first */
export const tellOfFlag = (tx: Database, id: number, user_id: number): Promise<void> =>
  tellEach(tx, {
    trigger: 'feature_flag_events',
    to_system: false,
    rows: rowsOf(sql`feature_flags.id = ${id}`, user_id),
    facts,
  });

/** The newest flag of a project, as if the user had changed it. */
export const sampleFeatureFlag: Sample = async (_services, { project_id, user_id }) => sql`
  (select ${facts} from (${rowsOf(sql`feature_flags.project_id = ${project_id}`, user_id)} order by feature_flags.id desc limit 1) news)`;
