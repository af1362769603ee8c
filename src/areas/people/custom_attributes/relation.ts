/**
 * How custom attributes of groups and projects are exported and imported: only by administrators
 * (docs/reference/relations_export.md#custom_attributes).
 */
import { sql } from 'kysely';
import { callerInJob } from '../../../access/index.ts';
import { type RecordKind, type Relation, required, shown, text } from '../../../relations/index.ts';
import { maximumAttributes, owners } from './queries.ts';
import { keyReasons, valueReasons } from './rules.ts';

const attribute: RecordKind = {
  table: 'custom_attributes',
  owner: { project: 'project_id', group: 'group_id' },
  title: 'key',
  members: {
    key: required('key', text(keyReasons)),
    value: required('value', text(valueReasons)),
    created_at: shown(sql`null`),
    updated_at: shown(sql`null`),
  },
  stays: { user_id: 'people do not leave' },
  distinct: ['key'],
  isVisible: ({ caller }) => sql`${caller?.admin === true}::boolean`,
  derives: {
    columns: {},
    derive: async (rows, { services, importer_id, owner }, tx) => {
      const importer = await callerInJob({ ...services, db: tx }, importer_id);
      if (!importer?.admin) return new Map(rows.map((each) => [each, 'can be set by administrators only']));
      const { count } = await tx
        .selectFrom('custom_attributes')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where(owners[owner.kind], '=', owner.id)
        .executeTakeFirstOrThrow();
      const beyond = rows.slice(Math.max(maximumAttributes - count, 0));
      return new Map(beyond.map((each) => [each, `is one of more than ${maximumAttributes}`]));
    },
  },
};

/** The custom attributes of a group or project. */
export const customAttributes: Relation = { name: 'custom_attributes', kind: attribute };
