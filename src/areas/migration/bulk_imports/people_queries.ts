/** Which people of the source have accounts here. */
import type { Database } from '../../../db/index.ts';
import { arrivalOf } from './arrival_queries.ts';
import { ask, isRecord, SourceFailure } from './source_queries.ts';
import type { StepCall } from './step_definition.ts';

/** The address that a user of the source shows to others. */
async function publicEmail({ source }: StepCall, id: number): Promise<string | null> {
  try {
    const { value } = await ask(source, `/users/${id}`);
    return isRecord(value) && typeof value.public_email === 'string' ? value.public_email.replaceAll('\0', '') || null : null;
  } catch (error) {
    if (error instanceof SourceFailure && error.exception_class === 'NetworkError') return null;
    throw error;
  }
}

/** A person as a list of members describes them. */
export interface ListedPerson {
  source_id: number;
  username: string;
  name: string;
}

/** Asks the source for the addresses of those whom `user_contributions` did not describe, each once. */
export async function describePeople(call: StepCall, people: readonly ListedPerson[]): Promise<void> {
  const { db, entity } = call;
  const known = await db.selectFrom('bulk_import_people').select('source_id').where('entity_id', '=', entity.id).execute();
  const ids = new Set(known.map(({ source_id }) => source_id));
  for (const { source_id, username, name } of people) {
    if (ids.has(source_id)) continue;
    const row = { source_id, username, name, entity_id: entity.id, public_email: await publicEmail(call, source_id) };
    await db
      .insertInto('bulk_import_people')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** The users here of described people: accounts and, for others, placeholders. */
export async function usersOf(tx: Database, call: StepCall, source_ids: readonly number[]) {
  const arrival = await arrivalOf(call);
  return { people: await arrival.people(tx, source_ids), accounts: await arrival.accounts(tx, source_ids) };
}
