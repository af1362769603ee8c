/** How protected branches leave and arrive (docs/reference/relations_export.md#protected_branches). */
import { sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import {
  type ArrivingRow,
  account,
  column,
  columnOr,
  completeGrants,
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

/** Who may do something to the branch: a level, a person or a group. */
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
  stays: {},
  distinct: ['access_level', 'user_id', 'group_id'],
  derives: {
    columns: { group_id: 'bigint' },
    derive: (rows, arrival, tx) => completeGrants(rows, arrival, tx, levels),
  },
});

/** Only top-level groups protect branches. */
async function refusedBelow(tx: Database, group_id: number, rows: readonly ArrivingRow[]) {
  const group = tx.selectFrom('namespaces').select('parent_id').where('id', '=', group_id);
  const { parent_id } = await group.executeTakeFirstOrThrow();
  return new Map(parent_id === null ? [] : rows.map((each) => [each, 'can be protected in a top-level group only']));
}

const protectedBranch: RecordKind = {
  table: 'protected_branches',
  owner: { project: 'project_id', group: 'group_id' },
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
  stays: {},
  distinct: ['name'],
  derives: {
    columns: {},
    derive: async (rows, { owner }, tx) => {
      if (owner.kind === 'group') return refusedBelow(tx, owner.id, rows);
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

/** The protected branches of a project or group. */
export const protectedBranches: Relation = { name: 'protected_branches', kind: protectedBranch };
