/** The applications that a user lets use their account, which pages show (docs/reference/oauth_tokens.md#what-was-agreed-to). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { del, get, Id, notFound, nothing, nullable, pageOf, resource, Timestamp } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { ownerName } from '../applications/queries.ts';
import { withdrawConsent } from './actions.ts';

const AuthorizedApplication = resource('AuthorizedApplication', {
  id: Id,
  name: Type.String(),
  owner: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  authorized_at: Timestamp,
  last_used_at: nullable(Timestamp),
});

/** The applications that a user has let use their account, in the order of their registration. */
function authorizedBy(db: Database, user_id: number) {
  const consent = sql`oauth_consents where user_id = ${user_id} and application_id = oauth_applications.id`;
  return db
    .selectFrom('oauth_applications')
    .select(['oauth_applications.id', 'name', ownerName.as('owner')])
    .select([
      sql<string[]>`(select scopes from ${consent})`.as('scopes'),
      sql<string>`(select created_at from ${consent})`.as('authorized_at'),
      sql<string | null>`
        (select max(last_used_at) from oauth_tokens where user_id = ${user_id} and application_id = oauth_applications.id)`.as(
        'last_used_at',
      ),
    ])
    .where(
      sql<boolean>`oauth_applications.id in (select application_id from oauth_consents where user_id = ${user_id})`,
    )
    .orderBy('oauth_applications.id');
}

export const authorizedApplicationRoutes = [
  get('/user/authorized_applications', {
    operation: 'listAuthorizedApplications',
    summary: 'List the applications that the caller lets use their account',
    access: signedIn,
    input: paging,
    returns: pageOf(AuthorizedApplication),
    handle: ({ db, caller, input }) => paginate(db, authorizedBy(db, caller.id), input),
  }),
  del('/user/authorized_applications/:application_id', {
    operation: 'revokeAuthorizedApplication',
    summary: 'Do not let an application use the account of the caller any more',
    access: signedIn,
    input: { application_id: Id },
    returns: nothing,
    refusals: { 404: '404 Application Not Found' },
    async handle({ db, caller, input: { application_id } }) {
      if (!(await withdrawConsent(db, { user_id: caller.id, application_id }))) throw notFound('Application');
    },
  }),
];
