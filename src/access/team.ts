/** The team: administrators, and the members of the group that the application setting `team_group` names (experiments.md). */
import { type Kysely, sql } from 'kysely';
import type { DB } from '../db/index.ts';
import type { Access, Caller } from '../http/endpoint.ts';
import { forbidden, unauthorized } from '../http/errors.ts';
import { countsInGroup } from './groups.ts';

/**
 * Whether a user is one of the team: an administrator, or a member of its group in any role, also by a group above it or one that it is shared with.
 * Without such a group the team is the administrators.
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
