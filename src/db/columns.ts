import type { TObject, TProperties } from 'typebox';

/**
 * The select list for a reply: one column per property of `schema`, checked against the table by Kysely.
 * @param schema the schema of the reply, whose property names are column names
 */
export const columnsOf = <P extends TProperties>(schema: TObject<P>) =>
  Object.keys(schema.properties) as (keyof P & string)[];
