/**
 * The people that other relations refer to, and the members (docs/reference/relations_export.md#user_contributions).
 */
import { sql } from 'kysely';
import { type Departure, peopleOf, type Relation, shown } from '../../relations/index.ts';

const memberships = ({ owner }: Pick<Departure, 'owner'>) =>
  sql`members where ${sql.ref(owner.kind === 'project' ? 'members.project_id' : 'members.group_id')} = ${owner.id}`;

/**
 * One record for each person. Only their public email address is exported.
 * @param relations the other relations
 */
export const contributionsTo = (relations: readonly Relation[]): Relation => ({
  name: 'user_contributions',
  kind: {
    table: 'users',
    members: {
      id: shown(sql`users.id`),
      username: shown(sql`users.username`),
      name: shown(sql`users.name`),
      public_email: shown(sql`nullif(users.public_email, '')`),
      user_type: shown(sql`users.user_type`),
      access_level: shown(
        (departure) => sql`(select access_level from ${memberships(departure)} and members.user_id = users.id)`,
      ),
    },
    stays: {},
    isOwned: (departure) =>
      sql`users.id in (${peopleOf(relations, departure)} union select user_id from ${memberships(departure)})`,
  },
});
