/** Which people of the source have accounts here. */
import { type Database, isAmong } from '../../../../db/index.ts';
import { ask, isRecord, SourceFailure } from '../source/queries.ts';
import type { StepCall } from '../step_definition.ts';
import { arrivalOf } from './arrival_queries.ts';
import { personIn } from './people_actions.ts';

/** A person as a list of members describes them. */
export interface ListedPerson {
  source_id: number;
  username: string;
  name: string;
}

/** A user of the source with their public address; undefined if the user no longer exists. */
async function personAt({ source }: StepCall, source_id: number) {
  try {
    const { value } = await ask(source, `/users/${source_id}`);
    if (!isRecord(value)) return undefined;
    return { source_id, ...personIn(value) };
  } catch (error) {
    if (error instanceof SourceFailure && error.exception_class === 'NetworkError') return undefined;
    throw error;
  }
}

async function undescribed({ db, entity }: StepCall, ids: readonly number[]): Promise<number[]> {
  const known = db.selectFrom('bulk_import_people').select('source_id').where('entity_id', '=', entity.id);
  const rows = await known.where(isAmong('source_id', ids, 'bigint[]')).execute();
  const described = new Set(rows.map(({ source_id }) => source_id));
  return [...new Set(ids)].filter((id) => !described.has(id));
}

/** Stores the source's descriptions of people, requesting each once. @returns whether any are new */
async function describe(
  call: StepCall,
  ids: readonly number[],
  listed: ReadonlyMap<number, ListedPerson>,
): Promise<boolean> {
  let areNew = false;
  for (const id of await undescribed(call, ids)) {
    const named = listed.get(id);
    const person = (await personAt(call, id)) ?? (named && { ...named, public_email: null });
    if (!person) continue;
    areNew = true;
    await call.db
      .insertInto('bulk_import_people')
      .values({ ...person, entity_id: call.entity.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return areNew;
}

/** Requests the addresses of the people that `user_contributions` did not describe. */
export const describePeople = (call: StepCall, people: readonly ListedPerson[]): Promise<boolean> => {
  const listed = new Map(people.map(({ source_id, username, name }) => [source_id, { source_id, username, name }]));
  return describe(call, [...listed.keys()], listed);
};

const isNameOfPerson = /(?:^|_)(?:author|user|by)_id$/;

/** The ids of users in a record and in records nested in it. */
function* namedIn(value: unknown): Generator<number> {
  if (Array.isArray(value)) for (const each of value) yield* namedIn(each);
  if (!isRecord(value)) return;
  for (const [name, member] of Object.entries(value))
    if (!isNameOfPerson.test(name)) yield* namedIn(member);
    else if (Number.isSafeInteger(member) && (member as number) > 0) yield member as number;
}

/**
 * Requests the people that records refer to, if the source does not export `user_contributions`.
 * @returns whether any are new
 */
export async function describeNamed(call: StepCall, records: readonly unknown[]): Promise<boolean> {
  const { db, entity } = call;
  const isLeftOut = db
    .selectFrom('bulk_import_relations')
    .select('id')
    .where('entity_id', '=', entity.id)
    .where('relation', '=', 'user_contributions')
    .where('state', '=', 'skipped');
  if (!(await isLeftOut.executeTakeFirst())) return false;
  return describe(call, [...new Set(namedIn(records))], new Map());
}

/** The users here for described people: accounts or, without one, placeholders. */
export async function usersOf(tx: Database, call: StepCall, source_ids: readonly number[]) {
  const arrival = await arrivalOf(call);
  return { people: await arrival.people(tx, source_ids), accounts: await arrival.accounts(tx, source_ids) };
}
