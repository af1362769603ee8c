/** Changes of access requests (docs/reference/access_requests.md). */
import { type SqlBool, sql } from 'kysely';
import { countsToday } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, type Caller, forbidden, invalid, notFound } from '../../../http/index.ts';
import { addRequestTodos } from '../../activity/todos/index.ts';
import { addMembers } from '../members/actions.ts';
import { tellOfRequests } from '../members/hook_actions.ts';
import { isDirect } from '../members/queries.ts';
import { noSeatsText } from '../members/refusal_rules.ts';
import { removeAccessRequests } from '../members/request_actions.ts';
import type { Actor, Source } from '../members/rules.ts';
import { asSubtree } from '../members/source_access.ts';

/**
 * Requests access.
 * @param tx a transaction that has locked the source; otherwise the user could become a member at the same time and
 * keep a request
 * @throws ApiError 403 when requests are disabled, for members, and for bot users of access tokens, which are members
 * where their token belongs and nowhere else; 400 when the user has already requested access
 */
export async function requestAccess(tx: Database, caller: Caller, source: Source): Promise<void> {
  if (['project', 'group'].includes(caller.token.kind)) throw forbidden();
  const table = sql.table(source.kind === 'group' ? 'namespaces' : 'projects');
  const { rows } = await sql<{ isOpen: boolean }>`
      select request_access_enabled and not exists (
               select from ${sql.table(`${source.kind}_authorizations`)} where ${isDirect(source)} and user_id = ${caller.id} and ${countsToday()}) as "isOpen"
        from ${table} where id = ${source.id}`.execute(tx);
  if (!rows[0]?.isOpen) throw forbidden();
  const asked = await tx
    .insertInto('access_requests')
    .values({ ...asSubtree(source), user_id: caller.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!asked) throw invalid({ user_id: ['already exists in source'] });
  await addRequestTodos(tx, asSubtree(source), { id: asked.id, user_id: caller.id });
  await tellOfRequests(tx, 'request', sql`id = ${asked.id}`);
}

/**
 * Approves an access request.
 * @param tx a transaction that has locked the place
 * @param actor the user who approves, with their level there
 * @returns `queued` when an administrator must approve the role first
 * @throws ApiError 404 without a request, 403 for a level above the actor's own, 400 for a level below the inherited one and when no seat is left
 */
export async function approveRequest(
  tx: Database,
  place: Source,
  actor: Actor,
  { user_id, access_level }: { user_id: number; access_level: number },
): Promise<'approved' | 'queued'> {
  if (access_level > actor.access_level) throw forbidden();
  await dropRequest(tx, place, user_id);
  const members = { user_ids: [user_id], access_level, existing: 'change' as const };
  const refusal = (await addMembers(tx, asSubtree(place), actor, members)).get(user_id);
  if (refusal === 'queued') return refusal;
  if (refusal === 'no seat') throw badRequest(noSeatsText(actor));
  if (typeof refusal === 'string') throw forbidden();
  if (refusal) throw invalid(refusal);
  return 'approved';
}

/**
 * Withdraws or denies a request.
 * @throws ApiError 404 without a request
 */
export async function dropRequest(db: Database, source: Source, user_id: number): Promise<void> {
  const which = sql<SqlBool>`${isDirect(source, 'access_requests')} and access_requests.user_id = ${user_id}`;
  await tellOfRequests(db, 'revoke', which);
  const dropped = await removeAccessRequests(db, which);
  if (dropped === 0) throw notFound();
}
