/** Setting custom attributes. */
import type { Static } from 'typebox';
import { type Database, takeTurn } from '../../../db/index.ts';
import { invalid } from '../../../http/index.ts';
import { type CustomAttribute, maximumAttributes, type Owner, owners } from './queries.ts';

export const tooManyText = `Maximum number of custom attributes (${maximumAttributes}) exceeded`;

/**
 * Creates or replaces an attribute.
 * @throws ApiError 400 if the maximum number of attributes is reached
 */
export const setAttribute = (
  db: Database,
  { owner, id }: { owner: Owner; id: number },
  { key, value }: Static<typeof CustomAttribute>,
): Promise<Static<typeof CustomAttribute>> =>
  db.transaction().execute(async (tx) => {
    const column = owners[owner];
    // Serialized per owner, so that two concurrent additions cannot exceed the limit together.
    await takeTurn(tx, `custom attributes ${owner} ${id}`);
    const others = tx.selectFrom('custom_attributes').where(column, '=', id).where('key', '<>', key);
    const { count } = await others.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
    if (count >= maximumAttributes) throw invalid({ base: [tooManyText] });
    await tx
      .insertInto('custom_attributes')
      .values({ [column]: id, key, value })
      .onConflict((conflict) => conflict.columns([column, 'key']).where(column, 'is not', null).doUpdateSet({ value }))
      .execute();
    return { key, value };
  });
