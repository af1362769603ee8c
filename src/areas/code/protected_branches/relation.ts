/** How protected branches leave and arrive (docs/reference/relations_export.md#protected_branches). */
import { sql } from 'kysely';
import { isAmong } from '../../../db/index.ts';
import {
  account,
  column,
  columnOr,
  flag,
  integer,
  parts,
  type RecordKind,
  type Relation,
  required,
  shown,
  text,
  time,
} from '../../../relations/index.ts';
import { nameReasons, type ProtectedAction } from './rules.ts';

const levels = [0, 30, 40, 60];

/** Who may do something to the branch. Groups have other ids at another server, and stay behind. */
const levelsOf = (action: ProtectedAction): RecordKind => ({
  table: 'protected_branch_access_levels',
  only: sql`protected_branch_access_levels.action = ${sql.lit(action)}`,
  members: {
    access_level: column('access_level', integer(0, 60)),
    user_id: account('user_id'),
    group_id: shown(sql`protected_branch_access_levels.group_id`),
    created_at: shown(sql`null`),
    updated_at: shown(sql`null`),
  },
  always: { action },
  stays: { group_id: 'another id at each server' },
  distinct: ['access_level', 'user_id'],
  derives: {
    columns: {},
    derive: (rows) => {
      // Other servers give a person a level, too.
      for (const { row } of rows) if (row.user_id !== null) row.access_level = null;
      const unknown = rows.filter(({ row }) => row.user_id === null && !levels.includes(row.access_level as number));
      return new Map(unknown.map((each) => [each, 'names no level and no person']));
    },
  },
});

const protectedBranch: RecordKind = {
  table: 'protected_branches',
  owner: { project: 'project_id' },
  title: 'name',
  members: {
    name: required('name', text(nameReasons)),
    allow_force_push: columnOr('allow_force_push', flag, false),
    code_owner_approval_required: columnOr('code_owner_approval_required', flag, false),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
    merge_access_levels: parts(levelsOf('merge'), 'protected_branch_id'),
    push_access_levels: parts(levelsOf('push'), 'protected_branch_id'),
    unprotect_access_levels: parts(levelsOf('unprotect'), 'protected_branch_id'),
  },
  stays: { group_id: 'those of groups stay behind' },
  distinct: ['name'],
  derives: {
    columns: {},
    derive: async (rows, { owner }, tx) => {
      const names = rows.map(({ row }) => row.name as string);
      // A new project protects its default branch by itself.
      await tx
        .deleteFrom('protected_branches')
        .where('project_id', '=', owner.id)
        .where(isAmong('name', names, 'text[]'))
        .where('name', '=', (q) => q.selectFrom('projects').select('default_branch').where('id', '=', owner.id))
        .execute();
      return undefined;
    },
  },
};

/** The protected branches of a project. */
export const protectedBranches: Relation = { name: 'protected_branches', kind: protectedBranch };
