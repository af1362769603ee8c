/** How shares of groups leave and arrive (docs/reference/relations_export.md#group_links). */
import { sql } from 'kysely';
import { isVisibleGroup, lockTrees, refreshAuthorizations } from '../../../access/index.ts';
import { isAmong } from '../../../db/index.ts';
import {
  type ArrivingRow,
  choiceOf,
  column,
  day,
  isText,
  type RecordKind,
  type Relation,
  required,
  shown,
  time,
} from '../../../relations/index.ts';

/** A group whose members may use another one. */
const groupLink: RecordKind = {
  table: 'group_links',
  owner: { group: 'group_id' },
  title: 'full_path',
  members: {
    full_path: shown(sql`(select full_path from namespaces where namespaces.id = group_links.invited_group_id)`),
    group_access: required('access_level', choiceOf(10, 15, 20, 30, 40, 50)),
    expires_at: column('expires_at', day),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: { project_id: 'shares of projects are no relation' },
  isVisible: ({ caller }) =>
    sql`exists (select from namespaces where namespaces.id = group_links.invited_group_id and ${isVisibleGroup(caller)})`,
  derives: {
    columns: { invited_group_id: 'bigint' },
    derive: async (rows, { owner, path }, tx) => {
      const paths = rows.map(({ value }) => (isText(value.full_path) ? path(value.full_path) : undefined) ?? '');
      const groups = await tx
        .selectFrom('namespaces')
        .select(['id', 'full_path'])
        .where('kind', '=', 'group')
        .where(isAmong('full_path', paths, 'citext[]'))
        .execute();
      await lockTrees(tx, [owner.id, ...groups.map(({ id }) => id)], [owner.id]);
      const ids = new Map(groups.map(({ id, full_path }) => [full_path.toLowerCase(), id]));
      return new Map(
        rows.flatMap((each, index): [ArrivingRow, string][] => {
          const id = ids.get(paths[index]!.toLowerCase());
          each.row.invited_group_id = id;
          return id === undefined || id === owner.id ? [[each, 'names a group that is not part of the migration']] : [];
        }),
      );
    },
  },
  follows: (tx, { owner }) => refreshAuthorizations(tx, { group_id: owner.id }),
};

/** The groups that a group is shared with. */
export const groupLinks: Relation = { name: 'group_links', kind: groupLink };
