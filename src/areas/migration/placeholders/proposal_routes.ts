/**
 * Placeholders proposed as the caller's own, which they accept or reject (docs/reference/placeholders.md#proposals).
 */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { signedIn } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { accepted, found, get, Id, nothing, nullable, pageOf, post, resource } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { endProposalTodos } from '../../activity/todos/index.ts';
import { requestReassignment } from './jobs.ts';

export const PlaceholderProposal = resource('PlaceholderProposal', {
  id: Type.Integer({ description: 'ID of the placeholder' }),
  source_host: Type.String(),
  source_username: Type.String(),
  source_name: Type.String(),
  group_full_path: Type.String({ description: 'The group that the work was imported into' }),
  imported_by: nullable(Type.String({ description: 'Username of the importer' })),
});

/** The proposals that await a user's answer. */
const proposalsTo = (db: Database, user_id: number) =>
  db
    .selectFrom('placeholders')
    .innerJoin('namespaces', 'namespaces.id', 'placeholders.group_id')
    .leftJoin('users as importers', 'importers.id', 'placeholders.proposed_by_id')
    .select(['placeholders.user_id as id', 'source_host', 'source_username', 'source_name'])
    .select(['namespaces.full_path as group_full_path', sql<string | null>`importers.username::text`.as('imported_by')])
    .where('placeholders.proposed_user_id', '=', user_id);

/**
 * Deletes a proposal, since it is answered only once. @throws ApiError 404 if it belongs to another user, or was
 * answered
 */
async function endProposal(tx: Database, user_id: number, placeholder_id: number): Promise<void> {
  const row = await tx
    .updateTable('placeholders')
    .set({ proposed_user_id: null })
    .where('user_id', '=', placeholder_id)
    .where('proposed_user_id', '=', user_id)
    .returning('user_id')
    .executeTakeFirst();
  found('Proposal', row);
  await endProposalTodos(tx, placeholder_id);
}

const path = '/user/placeholder_proposals';

/** Builds the endpoint of an answer, which is given only once. @param then further work in the transaction */
const answer = <R extends typeof accepted | typeof nothing>(
  name: 'accept' | 'reject',
  described: { summary: string; description?: string; returns: R },
  then?: (tx: Database, placeholder_id: number, user_id: number) => Promise<void>,
) =>
  post(`${path}/:placeholder_id/${name}`, {
    operation: `${name}PlaceholderProposal`,
    ...described,
    access: signedIn,
    input: { placeholder_id: Id },
    refusals: { 404: '404 Proposal Not Found' },
    handle: ({ db, caller, input: { placeholder_id } }) =>
      db.transaction().execute(async (tx) => {
        await endProposal(tx, caller.id, placeholder_id);
        await then?.(tx, placeholder_id, caller.id);
      }),
  });

export const proposalRoutes = [
  get(path, {
    operation: 'listPlaceholderProposals',
    summary: 'List the placeholders that are said to be the current user',
    access: signedIn,
    input: paging,
    returns: pageOf(PlaceholderProposal),
    handle: ({ db, caller, input }) =>
      paginate(db, proposalsTo(db, caller.id).orderBy('placeholders.user_id'), input, { id: 'placeholders.user_id' }),
  }),
  answer(
    'accept',
    {
      summary: 'Accept that a placeholder is the current user',
      description: 'A job moves the records and memberships to the user and deletes the placeholder.',
      returns: accepted,
    },
    requestReassignment,
  ),
  answer('reject', { summary: 'Say that a placeholder is not the current user', returns: nothing }),
];
