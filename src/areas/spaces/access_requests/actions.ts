/** Complete changes of access requests. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { badRequest, type Caller, forbidden, invalid, notFound } from '../../../http/index.ts';
import { addRequestTodos } from '../../activity/todos/index.ts';
import { type Actor, addMembers, counts, isDirect, lockedSource, noSeatsText, placeOf, type Source } from '../members/index.ts';

/**
 * Asks for a membership.
 * @throws ApiError 403 where nobody can ask, for members, and for the programs behind access tokens of projects and groups, which are members there alone; 400 for
 * who has asked already
 */
export async function requestAccess(db: Database, caller: Caller, place: Source): Promise<void> {
  if (['project', 'group'].includes(caller.token.kind)) throw forbidden();
  await db.transaction().execute(async (tx) => {
    // Locked, so that nobody becomes a member meanwhile and is left with a request.
    const source = await lockedSource(tx, placeOf(place));
    const table = sql.table(source.kind === 'group' ? 'namespaces' : 'projects');
    const { rows } = await sql<{ isOpen: boolean }>`
      select request_access_enabled and not exists (
               select from ${sql.table(`${source.kind}_authorizations`)} where ${isDirect(source)} and user_id = ${caller.id} and ${counts}) as "isOpen"
        from ${table} where id = ${source.id}`.execute(tx);
    if (!rows[0]?.isOpen) throw forbidden();
    const asked = await tx
      .insertInto('access_requests')
      .values({ ...placeOf(source), user_id: caller.id })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (!asked) throw invalid({ user_id: ['already exists in source'] });
    await addRequestTodos(tx, placeOf(source), { id: asked.id, user_id: caller.id });
  });
}

/**
 * Makes somebody a member who has asked for it.
 * @param actor who decides, with his level there
 * @returns whether he is a member, or an administrator decides first
 * @throws ApiError 404 for who has not asked, 403 for a level above the actor's own, 400 for one below what he has from above and where no seat is left
 */
export async function approveRequest(
  tx: Database,
  place: Source,
  actor: Actor,
  { user_id, access_level }: { user_id: number; access_level: number },
): Promise<'approved' | 'queued'> {
  if (access_level > actor.access_level) throw forbidden();
  await lockedSource(tx, placeOf(place));
  await dropRequest(tx, place, user_id);
  const members = { user_ids: [user_id], access_level, existing: 'change' as const };
  const refusal = (await addMembers(tx, placeOf(place), actor, members)).get(user_id);
  if (refusal === 'queued') return refusal;
  if (refusal === 'no seat') throw badRequest(noSeatsText(actor));
  if (typeof refusal === 'string') throw forbidden();
  if (refusal) throw invalid(refusal);
  return 'approved';
}

/**
 * Takes a request back, or turns it down.
 * @throws ApiError 404 for who has not asked
 */
export async function dropRequest(db: Database, source: Source, user_id: number): Promise<void> {
  const dropped = await db
    .deleteFrom('access_requests')
    .where(isDirect(source))
    .where('user_id', '=', user_id)
    .returning('id')
    .executeTakeFirst();
  if (!dropped) throw notFound();
}
