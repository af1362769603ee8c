/** Webhook events for feature flags (docs/reference/feature_flags.md#webhooks). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { userPage } from '../../../access/index.ts';
import { type Database, membersInJson, rowInJson } from '../../../db/index.ts';
import { Id, nullable, resource } from '../../../http/index.ts';
import {
  HookPerson,
  HookProject,
  personRow,
  presentPerson,
  presentProject,
  projectRow,
  type Sample,
  sampled,
} from '../../activity/hooks/index.ts';
import { hookEvent, newsInProjects, type Refs, tellEach } from '../../instance/hook_events/index.ts';

const HookFlag = Type.Object({
  id: Id,
  name: Type.String(),
  description: nullable(Type.String()),
  active: Type.Boolean(),
});

export const featureFlagEvent = hookEvent({
  name: 'feature_flag',
  summary: 'A feature flag was created, updated or deleted',
  triggers: ['feature_flag_events'],
  snapshot: (news: Refs<{ id: number; project_id: number; user_id: number }>) => ({
    project: projectRow(news.project_id),
    user: personRow(news.user_id),
    flag: rowInJson('feature_flags', news.id, membersInJson('feature_flags', HookFlag.properties)),
  }),
  body: resource('FeatureFlagHookBody', {
    object_kind: Type.Literal('feature_flag'),
    project: HookProject,
    user: HookPerson,
    user_url: Type.String({ format: 'uri' }),
    object_attributes: HookFlag,
  }),
}).presentedBy(({ project, user, flag }, services) => ({
  object_kind: 'feature_flag',
  project: presentProject(project, services),
  user: presentPerson(user, services),
  user_url: services.url + userPage(user.username),
  object_attributes: flag,
}));

/** @param which a predicate on rows of `feature_flags`, and what may follow it */
const rowsOf = (which: RawBuilder<unknown>, user_id: number) =>
  newsInProjects('feature_flags', { user_id: sql<number>`${user_id}::bigint` }, which);

/** @param tx the transaction of the change; before a deletion, call this first */
export const tellOfFlag = (tx: Database, id: number, user_id: number): Promise<void> =>
  tellEach(tx, featureFlagEvent, rowsOf(sql`feature_flags.id = ${id}`, user_id));

/** The newest flag of a project, as if the user had changed it. */
export const sampleFeatureFlag: Sample = async (_services, { project_id, user_id }) =>
  sampled(
    featureFlagEvent,
    rowsOf(sql`feature_flags.project_id = ${project_id} order by feature_flags.id desc`, user_id),
  );
