/**
 * Custom attributes: texts by key that administrators attach to users, groups and projects
 * (docs/reference/custom_attributes.md).
 */
import { Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { capitalized, checked, del, found, get, nothing, one, pageOf, put } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { ownerForAdmin } from './access.ts';
import { setAttribute, tooManyText } from './actions.ts';
import { CustomAttribute, type Owner, owners } from './queries.ts';
import { keyReasons, valueReasons } from './rules.ts';

const which = { key: checked(Type.String({ description: 'At most 255 characters' }), keyReasons) };
const value = checked(Type.String({ description: 'At most 4,096 characters' }), valueReasons);

const attributesOf = (db: Database, { owner, id }: { owner: Owner; id: number }) =>
  db.selectFrom('custom_attributes').select(['key', 'value']).where(owners[owner], '=', id);

function routesOf(owner: Owner) {
  const access = ownerForAdmin[owner];
  const base = `/${owner}s/:id/custom_attributes`;
  const Noun = capitalized(owner);
  const missing = owner === 'user' ? ['404 User Not Found'] : [];
  return [
    get(base, {
      operation: `list${Noun}CustomAttributes`,
      summary: `List the custom attributes of a ${owner}, by key`,
      access,
      input: paging,
      returns: pageOf(CustomAttribute),
      refusals: { 404: missing },
      handle: ({ db, owner, input }) => paginate(db, attributesOf(db, owner).orderBy('key'), input),
    }),
    get(`${base}/:key`, {
      operation: `get${Noun}CustomAttribute`,
      summary: `Show a custom attribute of a ${owner}`,
      access,
      input: which,
      returns: one(CustomAttribute),
      refusals: { 404: missing },
      handle: async ({ db, owner, input }) =>
        found(undefined, await attributesOf(db, owner).where('key', '=', input.key).executeTakeFirst()),
    }),
    put(`${base}/:key`, {
      operation: `set${Noun}CustomAttribute`,
      summary: `Set a custom attribute of a ${owner}, which need not exist`,
      access,
      input: { ...which, value },
      returns: one(CustomAttribute),
      refusals: { 400: `base: ${tooManyText}`, 404: missing },
      handle: ({ db, owner, input }) => setAttribute(db, owner, input),
    }),
    del(`${base}/:key`, {
      operation: `delete${Noun}CustomAttribute`,
      summary: `Delete a custom attribute of a ${owner}`,
      access,
      input: which,
      returns: nothing,
      refusals: { 404: [...missing, '404 Custom attribute Not Found'] },
      handle: async ({ db, owner: { owner, id }, input }) => {
        const attribute = db.deleteFrom('custom_attributes').where(owners[owner], '=', id).where('key', '=', input.key);
        found('Custom attribute', await attribute.returning('id').executeTakeFirst());
      },
    }),
  ];
}

export const customAttributeRoutes = (['user', 'group', 'project'] as const).flatMap(routesOf);
