/** Placeholders of a group, and their reassignment to accounts by administrators (docs/reference/placeholders.md). */
import { Type } from 'typebox';
import { groupForAdmin } from '../../../access/index.ts';
import { accepted, badRequest, found, get, Id, nullable, pageOf, post, resource } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { countOwned } from '../../people/users/index.ts';
import { requestReassignment } from './jobs.ts';
import { isActivePerson, ownTables, placeholdersOf } from './queries.ts';

const Placeholder = resource('Placeholder', {
  id: Type.Integer({ description: 'ID of the user' }),
  source_username: Type.String(),
  source_name: Type.String(),
  source_host: Type.String(),
  source_user_id: Type.Integer(),
  proposed_user_id: nullable(Type.Integer({ description: 'ID of the user who is asked whether they are the person' })),
  reassign_to_user_id: nullable(Type.Integer({ description: 'ID of the user who is getting the contributions' })),
  contributions: Type.Integer({ description: 'Number of records that name the user' }),
});

const missing = '404 Group Not Found';
const noPerson = '400 Bad request - user_id is not an active person';

export const placeholderRoutes = [
  get('/groups/:id/placeholders', {
    operation: 'listPlaceholdersOfGroup',
    summary: 'List the placeholders of a top-level group',
    access: groupForAdmin,
    input: paging,
    returns: pageOf(Placeholder),
    refusals: { 404: missing },
    handle: async ({ db, group, input }) => {
      const page = await paginate(db, placeholdersOf(db, group.id).orderBy('user_id'), input);
      const counts = await countOwned(
        db,
        page.items.map(({ user_id }) => user_id),
        ownTables,
      );
      return mapPage(page, ({ user_id, assignee_id, ...source }) => ({
        id: user_id,
        ...source,
        reassign_to_user_id: assignee_id,
        contributions: counts.get(user_id) ?? 0,
      }));
    },
  }),
  post('/groups/:id/placeholders/:placeholder_id/reassign', {
    operation: 'reassignPlaceholderOfGroup',
    summary: 'Reassign the records of a placeholder to a user',
    description: 'A job moves the records and memberships to the user and deletes the placeholder. No one is notified.',
    access: groupForAdmin,
    input: { placeholder_id: Id, user_id: Id },
    returns: accepted,
    refusals: { 400: noPerson, 404: [missing, '404 Placeholder Not Found'] },
    handle: async ({ db, group, input: { placeholder_id, user_id } }) => {
      const query = placeholdersOf(db, group.id).where('user_id', '=', placeholder_id);
      found('Placeholder', await query.executeTakeFirst());
      if (!(await isActivePerson(db, user_id))) throw badRequest(noPerson);
      await db.transaction().execute((tx) => requestReassignment(tx, placeholder_id, user_id));
    },
  }),
];
