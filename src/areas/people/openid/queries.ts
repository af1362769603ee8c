/** What applications learn of a person, read in one statement. */
import { sql } from 'kysely';
import { countsToday, isPrimaryProved, userPage } from '../../../access/index.ts';
import type { Services } from '../../../http/index.ts';
import { avatarUrl } from '../avatars/rules.ts';
import type { OwnGroup, Person } from './rules.ts';

interface PersonRow {
  id: number;
  username: string;
  name: string;
  email: string;
  email_verified: boolean;
  public_email: string;
  website_url: string;
  avatar: string | null;
  groups: OwnGroup[];
}

/** The groups of a user with their highest level in each, by path. */
const groupsOf = sql`
  select namespaces.full_path, held.access_level,
         exists (select from members where members.user_id = users.id and members.group_id = namespaces.id and ${countsToday('members')}) as is_direct
    from (select group_id, max(access_level) as access_level from group_authorizations
           where user_id = users.id and ${countsToday()} group by group_id) held
         join namespaces on namespaces.id = held.group_id
   order by namespaces.full_path`;

export async function personOf({ db, url }: Pick<Services, 'db' | 'url'>, user_id: number): Promise<Person> {
  const { rows } = await sql<PersonRow>`
    select users.id, username, name, email, ${isPrimaryProved} as email_verified, public_email, website_url, avatar,
           (select coalesce(jsonb_agg(own), '[]') from (${groupsOf}) own) as groups
      from users where users.id = ${user_id}`.execute(db);
  const { avatar, ...person } = rows[0]!;
  const picture = avatarUrl(url, 'user', { id: person.id, avatar });
  return { ...person, profile: url + userPage(person.username), picture };
}
