/** Searches users: all, or the members of a group or project. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { countsToday } from '../../../access/index.ts';
import { mapPage } from '../../../lists/index.ts';
import { listUsers, presentUserBasic, UserBasic, userBasicColumns } from '../../people/users/index.ts';
import { formed, type Scope, type Within } from './definition.ts';

/** A predicate on rows of `users`: they are direct or inherited members. */
function isMemberOf(within: Within): RawBuilder<SqlBool> {
  if ('everywhere' in within) return sql`true`;
  const [table, column, id] =
    'group' in within
      ? (['group_authorizations', 'group_id', within.group.id] as const)
      : (['project_authorizations', 'project_id', within.project.id] as const);
  return sql`users.id in (
    select user_id from ${sql.table(table)} where ${sql.ref(column)} = ${id} and ${countsToday(table)})`;
}

export const userScope: Scope = {
  levels: ['global', 'group', 'project'],
  forms: [UserBasic],
  async find({ db, url }, { caller, within, input: { order_by: _column, sort: _direction, ...input } }) {
    const query = db
      .selectFrom('users')
      .select(userBasicColumns)
      .where('users.user_type', '<>', 'placeholder')
      .where(isMemberOf(within));
    const page = await listUsers(db, query, input, caller.admin);
    return formed(
      UserBasic,
      mapPage(page, (user) => presentUserBasic(url, user)),
    );
  },
};
