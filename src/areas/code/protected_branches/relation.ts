/** How protected branches leave and arrive (docs/reference/relations_export.md#protected_branches). */
import { type Database, isAmong } from '../../../db/index.ts';
import {
  type ArrivingRow,
  columnOr,
  flag,
  grantsOf,
  parts,
  type RecordKind,
  type Relation,
  required,
  text,
  time,
} from '../../../relations/index.ts';
import { nameReasons, type ProtectedAction } from './rules.ts';

/** The grantees of an action on the branch: a level, a user or a group. */
const levelsOf = (action: ProtectedAction): RecordKind =>
  grantsOf({ table: 'protected_branch_access_levels', right: ['action', action], levels: [0, 30, 40, 60] });

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
      // A new project has protected its default branch already.
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
