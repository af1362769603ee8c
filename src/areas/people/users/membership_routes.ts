/** Memberships and associations of users. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { admin, countsToday, signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Access,
  type Caller,
  forbidden,
  found,
  get,
  Id,
  one,
  optional,
  pageOf,
  resource,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';

const Membership = resource('UserMembership', {
  source_id: Id,
  source_name: Type.String(),
  source_type: Type.Enum(['Project', 'Namespace']),
  access_level: Type.Integer(),
});

interface MembershipRow {
  source_id: number;
  source_name: string;
  source_type: 'Project' | 'Namespace';
  access_level: number;
}

/** The memberships of a user that are in force. They own the projects of their namespace without a row. */
const membershipsOf = (user_id: number) => sql<MembershipRow>`(
  select members.id as position, namespaces.id as source_id, namespaces.name as source_name, 'Namespace' as source_type, access_level
    from members join namespaces on namespaces.id = members.group_id
   where members.user_id = ${user_id} and ${countsToday()}
  union all
  select members.id, projects.id, projects.name, 'Project', access_level
    from members join projects on projects.id = members.project_id join namespaces on namespaces.id = projects.namespace_id
   where members.user_id = ${user_id} and ${countsToday()} and namespaces.owner_id is distinct from ${user_id}
  union all
  select null, projects.id, projects.name, 'Project', 50
    from projects join namespaces on namespaces.id = projects.namespace_id where namespaces.owner_id = ${user_id})`;

async function checkUser(db: Database, id: number): Promise<void> {
  found('User', await db.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst());
}

/** Grants access to the user themselves and to administrators. */
const selfOrAdmin: Access<{ caller: Caller }> = {
  rule: 'self',
  async check(call) {
    const granted = await signedIn.check(call);
    if (!granted.caller.admin && String(granted.caller.id) !== call.params.id) throw forbidden();
    return granted;
  },
};

const AssociationsCount = resource('UserAssociationsCount', {
  groups_count: Type.Integer(),
  projects_count: Type.Integer(),
});

export const userMembershipRoutes = [
  get('/users/:id/memberships', {
    operation: 'listUserMemberships',
    summary: 'List direct memberships of a user',
    access: admin,
    input: { id: Id, type: optional(Type.Enum(['Project', 'Namespace'])), ...paging },
    returns: pageOf(Membership),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, input }) => {
      await checkUser(db, input.id);
      const rows = db
        .selectFrom(membershipsOf(input.id).as<'membership'>('membership'))
        .select(['source_id', 'source_name', 'source_type', 'access_level'])
        .$if(input.type !== undefined, (query) => query.where('source_type', '=', input.type!))
        .orderBy(sql`position nulls last`)
        .orderBy('source_id');
      return paginate(db, rows, input);
    },
  }),
  get('/users/:id/associations_count', {
    operation: 'getUserAssociationsCount',
    summary: 'Count the groups and projects of a user',
    access: selfOrAdmin,
    input: { id: Id },
    returns: one(AssociationsCount),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, input }) => {
      await checkUser(db, input.id);
      return db
        .selectFrom(membershipsOf(input.id).as<'membership'>('membership'))
        .select([
          sql<number>`count(*) filter (where source_type = 'Namespace')`.as('groups_count'),
          sql<number>`count(*) filter (where source_type = 'Project')`.as('projects_count'),
        ])
        .executeTakeFirstOrThrow();
    },
  }),
];
