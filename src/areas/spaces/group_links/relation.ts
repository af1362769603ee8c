/** How shares with groups are exported and imported (docs/reference/relations_export.md#group_links). */
import { sql } from 'kysely';
import { isVisibleGroup, lockTrees, refreshAuthorizations } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import {
  type ArrivingRow,
  choiceOf,
  column,
  day,
  isText,
  type RecordKind,
  type Relation,
  type RelationOwner,
  required,
  shown,
  time,
} from '../../../relations/index.ts';
import { actorNow } from '../members/queries.ts';

/** The namespace in whose tree the shared group or project is. */
async function namespaceOf(tx: Database, { kind, id }: RelationOwner): Promise<number> {
  if (kind === 'group') return id;
  const project = tx.selectFrom('projects').select('namespace_id').where('id', '=', id);
  return (await project.executeTakeFirstOrThrow()).namespace_id;
}

/** A share: a group whose members may use another group or project. */
const groupLink: RecordKind = {
  table: 'group_links',
  owner: { group: 'group_id', project: 'project_id' },
  title: 'full_path',
  members: {
    full_path: shown(sql`(select full_path from namespaces where namespaces.id = group_links.invited_group_id)`),
    group_access: required('access_level', choiceOf(10, 15, 20, 30, 40, 50)),
    expires_at: column('expires_at', day),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
  isVisible: ({ caller }) =>
    sql`exists (select from namespaces where namespaces.id = group_links.invited_group_id and ${isVisibleGroup(caller)})`,
  derives: {
    columns: { invited_group_id: 'bigint' },
    derive: async (rows, { owner, path, importer_id }, tx) => {
      const paths = rows.map(({ value }) => (isText(value.full_path) ? path(value.full_path) : undefined) ?? '');
      const groups = await tx
        .selectFrom('namespaces')
        .select(['id', 'full_path'])
        .where('kind', '=', 'group')
        .where(isAmong('full_path', paths, 'citext[]'))
        .execute();
      const shared = await namespaceOf(tx, owner);
      await lockTrees(tx, [shared, ...groups.map(({ id }) => id)], [shared]);
      const level = (await actorNow(tx, owner, importer_id))?.access_level ?? 0;
      const ids = new Map(groups.map(({ id, full_path }) => [full_path.toLowerCase(), id]));
      return new Map(
        rows.flatMap((each, index): [ArrivingRow, string][] => {
          const id = ids.get(paths[index]!.toLowerCase());
          each.row.invited_group_id = id;
          if (id === undefined || (owner.kind === 'group' && id === owner.id))
            return [[each, 'names a group that is not part of the migration']];
          return (each.row.access_level as number) > level ? [[each, 'gives more than the importer may give']] : [];
        }),
      );
    },
  },
  follows: (tx, { owner: { kind, id } }) =>
    refreshAuthorizations(tx, kind === 'group' ? { group_id: id } : { project_id: id }),
};

/** The groups that a group or project is shared with. */
export const groupLinks: Relation = { name: 'group_links', kind: groupLink };
