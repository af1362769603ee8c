/** Who the people of the source are here. */
import type { Database } from '../../../db/index.ts';
import { ask, isRecord, SourceFailure } from './source_queries.ts';
import type { StepCall } from './step_definition.ts';

/** The ID at the source of the owner of the token, who is the importer. */
async function ownId({ source }: StepCall): Promise<number | undefined> {
  const { value } = await ask(source, '/user');
  return isRecord(value) && typeof value.id === 'number' ? value.id : undefined;
}

/** The address that a user of the source shows to others. */
async function publicEmail({ source }: StepCall, id: number): Promise<string | undefined> {
  try {
    const { value } = await ask(source, `/users/${id}`);
    return isRecord(value) && typeof value.public_email === 'string' && value.public_email !== ''
      ? value.public_email
      : undefined;
  } catch (error) {
    if (error instanceof SourceFailure && error.exception_class === 'NetworkError') return undefined;
    throw error;
  }
}

/** The active account here that has confirmed an address. */
async function accountOf(db: Database, email: string): Promise<number | undefined> {
  const row = await db
    .selectFrom('emails')
    .innerJoin('users', 'users.id', 'emails.user_id')
    .select('users.id')
    .where('emails.email', '=', email.replaceAll('\0', ''))
    .where('emails.confirmed_at', 'is not', null)
    .where('users.state', '=', 'active')
    .where('users.user_type', '=', 'human')
    .executeTakeFirst();
  return row?.id;
}

/**
 * The accounts here of people of the source: by confirmed address, and the importer as the owner of the token.
 * @param source_ids their ids at the source
 * @returns by these; nobody else is matched
 */
export async function matchedPeople(call: StepCall, source_ids: readonly number[]): Promise<Map<number, number>> {
  const own = await ownId(call);
  const matched = new Map<number, number>();
  for (const source_id of source_ids) {
    const email = source_id === own ? undefined : await publicEmail(call, source_id);
    const id = source_id === own ? call.migration.user_id : email && (await accountOf(call.db, email));
    if (id) matched.set(source_id, id);
  }
  return matched;
}
