/** Labels in webhooks. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { type Built, membersInJson, rowsInJson } from '../../../db/index.ts';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';

/** A label in the bodies of webhooks. */
export const HookLabel = resource('HookLabel', {
  id: Id,
  title: Type.String(),
  color: Type.String(),
  project_id: nullable(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
  template: Type.Boolean(),
  description: nullable(Type.String()),
  type: Type.Enum(['ProjectLabel', 'GroupLabel']),
  group_id: nullable(Id),
});

const label = membersInJson('labels', HookLabel.properties, ['template', 'type']);
export type HookLabelRow = Built<typeof label>;

/**
 * Labels, by title.
 * @param ids a select of ids
 */
export const hookLabelRows = (ids: RawBuilder<unknown>): RawBuilder<HookLabelRow[]> =>
  rowsInJson(label, sql`from labels where labels.id in (${ids})`, sql`labels.title`);

export const presentHookLabel = (row: HookLabelRow): Static<typeof HookLabel> => ({
  ...row,
  template: false,
  type: row.group_id === null ? 'ProjectLabel' : 'GroupLabel',
});
