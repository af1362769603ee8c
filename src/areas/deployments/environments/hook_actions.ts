/** Webhook events for deployments (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { commitKind } from '../../../access/index.ts';
import { type Database, momentInJson } from '../../../db/index.ts';
import {
  commitPlace,
  hole,
  pageFacts,
  personFacts,
  projectFacts,
  type Sample,
  userUrlFacts,
} from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/** @param which a predicate on rows of `deployments` */
const rowsOf = (which: RawBuilder<unknown>) => sql`
  select deployments.*, namespaces.traversal_ids as group_ids, environments.name, environments.tier, environments.slug, environments.external_url
    from deployments join environments on environments.id = deployments.environment_id
    join projects on projects.id = deployments.project_id join namespaces on namespaces.id = projects.namespace_id
   where ${which}`;

const factsOf = sql`json_build_object(
  'object_kind', 'deployment', 'status', news.status, 'status_changed_at', ${momentInJson('news.updated_at')}, 'deployment_id', news.id,
  'deployable_id', null, 'deployable_url', null, 'environment', news.name, 'environment_tier', news.tier, 'environment_slug', news.slug,
  'environment_external_url', news.external_url, 'project', ${projectFacts(sql`news.project_id`)}, 'short_sha', left(news.sha, 8),
  'user', ${personFacts(sql`news.user_id`)}, 'user_url', ${userUrlFacts(sql`news.user_id`)},
  'commit_url', ${pageFacts(commitKind.page, sql`news.project_id`, sql`news.sha`)},
  'commit_title', ${hole('commit_title', commitPlace(sql`news.project_id`, sql`news.sha`))}, 'ref', news.ref)`;

/** @param tx the transaction in which the status of a deployment changed */
export const tellOfDeployment = (tx: Database, id: number): Promise<void> =>
  tellEach(tx, {
    trigger: 'deployment_events',
    to_system: false,
    rows: rowsOf(sql`deployments.id = ${id}`),
    facts: factsOf,
  });

/** The newest deployment of a project. */
export const sampleDeployment: Sample = async (_services, { project_id }) => sql`
  (select ${factsOf} from (${rowsOf(sql`deployments.project_id = ${project_id}`)} order by deployments.id desc limit 1) news)`;
