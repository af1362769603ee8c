/** The people that records name: the ids in the members of every description. */
import { type RawBuilder, sql } from 'kysely';
import { isOwned, isSeen } from './departing.ts';
import type { Members, RecordKind, Relation } from './description.ts';
import type { Departure } from './exported.ts';

const columnsOf = (members: Members): string[] =>
  Object.values(members).flatMap((member) => {
    if (member.is === 'group') return columnsOf(member.members);
    return member.is === 'person' ? [member.column] : [];
  });

/** The people in the rows of a kind, then the people in their parts. */
function* peopleIn(kind: RecordKind, rows: RawBuilder<unknown>, departure: Departure): Generator<RawBuilder<unknown>> {
  const from = sql`from ${sql.table(kind.table)} where ${rows}`;
  for (const name of columnsOf(kind.members)) {
    const column = sql.ref(`${kind.table}.${name}`);
    yield sql`select distinct ${column} as id ${from} and ${column} is not null`;
  }
  for (const member of Object.values(kind.members)) {
    if (member.is !== 'parts' || member.only_arrives) continue;
    const isPart = sql`${sql.ref(`${member.kind.table}.${member.key}`)} in (select ${sql.ref(`${kind.table}.id`)} ${from})`;
    yield* peopleIn(member.kind, isSeen(member.kind, isPart, departure), departure);
  }
}

/** A select of the `id` of every user that the records of these relations name. */
export const peopleOf = (relations: readonly Relation[], departure: Departure): RawBuilder<{ id: number }> =>
  sql`${sql.join(
    relations.flatMap(({ kind }) => [...peopleIn(kind, isSeen(kind, isOwned(kind, departure), departure), departure)]),
    sql` union `,
  )}`;
