/** The relation `user_contributions`: the people that the records of an entity name. */
import { sql } from 'kysely';
import type { ArrivingRelation } from '../../../../relations/index.ts';

/** A person's attribute from a source; empty if it is not a text that can be stored. */
export const personText = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed().slice(0, 255) : '';

/** The attributes of a person in a record. */
export const personIn = ({ username, name, public_email }: Record<string, unknown>) => ({
  username: personText(username),
  name: personText(name),
  public_email: personText(public_email) || null,
});

/** Stores descriptions of people with the entity. Users are created only when a record refers to them. */
export const sourcePeople: ArrivingRelation = {
  name: 'user_contributions',
  async arrive(tx, { entity_id }, records) {
    const people = records
      .map(({ value }) => ({ source_id: value.id, ...personIn(value) }))
      .filter(({ source_id }) => Number.isSafeInteger(source_id) && (source_id as number) > 0);
    await sql`
      insert into bulk_import_people (entity_id, source_id, username, name, public_email)
      select ${entity_id}, source_id, username, name, public_email
        from jsonb_to_recordset(${JSON.stringify(people)}::jsonb) as person (source_id bigint, username text, name text, public_email text)
      on conflict do nothing`.execute(tx);
    return { counts: { user_contributions: { fetched: records.length, imported: people.length } }, failures: [] };
  },
};
