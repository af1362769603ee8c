/** The team: administrators and the members of the group in the application setting `team_group`. */
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, Caller } from '../http/endpoint.ts';
import { forbidden, unauthorized } from '../http/errors.ts';
import { countsInGroup } from './groups.ts';

/**
 * Whether a user belongs to the team: an administrator, or a member of its group with any role, including inherited and invited members.
 * Without a group, only administrators belong to the team.
 */
export async function isTeamMember(db: Kysely<DB>, user_id: number): Promise<boolean> {
  const { rows } = await sql`
    select from users where id = ${user_id} and (admin or exists (
      select from group_authorizations join application_settings on application_settings.team_group_id = group_authorizations.group_id
       where user_id = users.id and ${countsInGroup}))`.execute(db);
  return rows.length > 0;
}

/** Admits the team. */
export const teamMember: Access<{ caller: Caller }> = {
  rule: 'team member',
  async check({ db, caller }) {
    if (!caller) throw unauthorized();
    if (!caller.admin && !(await isTeamMember(db, caller.id))) throw forbidden();
    return { caller };
  },
};
