import type { TObject, TProperties } from 'typebox';

/**
 * The select list that fills `schema`: one column per property, checked against the table by Kysely.
 * @param schema what is to be answered; its property names are column names
 */
export const columnsOf = <P extends TProperties>(schema: TObject<P>) => Object.keys(schema.properties) as (keyof P & string)[];
