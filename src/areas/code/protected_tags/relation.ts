/** How protected tags leave and arrive (docs/reference/relations_export.md#protected_tags). */
import { sql } from 'kysely';
import { type RecordKind, type Relation, required, shown, text, time } from '../../../relations/index.ts';
import { nameReasons } from '../protected_branches/rules.ts';

const levels = [0, 30, 40];

/** Other servers send several levels; the lowest one counts, because every user with it may create the tag. */
function levelIn({ create_access_levels }: Record<string, unknown>): number | undefined {
  const all = Array.isArray(create_access_levels) ? create_access_levels : [];
  const known = all
    .map((each: { access_level?: unknown } | null) => each?.access_level)
    .filter((level) => levels.includes(level as number));
  return known.length === 0 ? undefined : Math.min(...(known as number[]));
}

const protectedTag: RecordKind = {
  table: 'protected_tags',
  owner: { project: 'project_id' },
  title: 'name',
  members: {
    name: required('name', text(nameReasons)),
    created_at: required('created_at', time),
    updated_at: shown(sql`null`),
    create_access_levels: shown(
      sql`json_build_array(json_build_object('access_level', protected_tags.create_access_level, 'user_id', null, 'group_id', null))`,
    ),
  },
  stays: {},
  derives: {
    columns: { create_access_level: 'integer' },
    derive: (rows) => {
      const levelless = rows.filter((each) => {
        each.row.create_access_level = levelIn(each.value) ?? null;
        return each.row.create_access_level === null;
      });
      return new Map(levelless.map((each) => [each, 'names no level']));
    },
  },
};

/** The protected tags of a project. */
export const protectedTags: Relation = { name: 'protected_tags', kind: protectedTag };
