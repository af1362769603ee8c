/**
 * Protected tags: restrict the creation of a tag, or of all tags that match a pattern, beyond the right to push to the project
 * (docs/reference/protected_tags.md).
 */
import { type Static, Type } from 'typebox';
import { levelDescription, levels, projectRole } from '../../../access/index.ts';
import {
  conflict,
  del,
  found,
  get,
  Id,
  NotBlank,
  nothing,
  one,
  pageOf,
  post,
  resource,
  unprocessable,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { protectedTagsOf } from './queries.ts';

const ProtectedTag = resource('ProtectedTag', {
  name: Type.String({ description: '`*` matches any characters' }),
  create_access_levels: Type.Array(
    Type.Object({ id: Id, access_level: Type.Integer(), access_level_description: Type.String() }),
  ),
});

interface ProtectedTagRow {
  id: number;
  name: string;
  create_access_level: number;
}

/** A tag protection has exactly one level, whose id is that of the protection. */
const present = ({ id, name, create_access_level: access_level }: ProtectedTagRow): Static<typeof ProtectedTag> => ({
  name,
  create_access_levels: [{ id, access_level, access_level_description: levelDescription(access_level) }],
});

const maximumName = 255;
const maintainer = projectRole('maintainer');
const path = '/projects/:id/protected_tags';
const name = Type.String({ description: 'Name or wildcard of the protection' });

export const protectedTagRoutes = [
  get(path, {
    operation: 'listProtectedTags',
    summary: 'List protected tags, by name',
    access: maintainer,
    input: paging,
    returns: pageOf(ProtectedTag),
    handle: async ({ db, project, input }) => {
      const page = await paginate(db, protectedTagsOf(db, project.id).orderBy('name'), input);
      return mapPage(page, present);
    },
  }),
  get(`${path}/:name`, {
    operation: 'getProtectedTag',
    summary: 'Get a protected tag or wildcard',
    access: maintainer,
    input: { name },
    returns: one(ProtectedTag),
    handle: async ({ db, project, input }) =>
      present(
        found(undefined, await protectedTagsOf(db, project.id).where('name', '=', input.name).executeTakeFirst()),
      ),
  }),
  post(path, {
    operation: 'createProtectedTag',
    summary: 'Protect a tag or wildcard',
    access: maintainer,
    input: {
      name: NotBlank({ description: 'Name of a tag, or a wildcard with `*`' }),
      create_access_level: Type.Enum([0, 30, 40], {
        default: levels.maintainer,
        description: 'Who can create it: 0 no one, 30 developers, 40 maintainers',
      }),
    },
    returns: one(ProtectedTag),
    refusals: {
      409: "Protected tag '<name>' already exists",
      422: 'Name is too long (maximum is 255 characters)',
    },
    handle: async ({ db, project, input }) => {
      if (input.name.length > maximumName)
        throw unprocessable(`Name is too long (maximum is ${maximumName} characters)`);
      const added = await db
        .insertInto('protected_tags')
        .values({ project_id: project.id, name: input.name, create_access_level: input.create_access_level })
        .onConflict((conflicts) => conflicts.columns(['project_id', 'name']).doNothing())
        .returning(['id', 'name', 'create_access_level'])
        .executeTakeFirst();
      if (!added) throw conflict(`Protected tag '${input.name}' already exists`);
      return present(added);
    },
  }),
  del(`${path}/:name`, {
    operation: 'deleteProtectedTag',
    summary: 'Unprotect a tag',
    access: maintainer,
    input: { name },
    returns: nothing,
    handle: async ({ db, project, input }) => {
      const removed = await db
        .deleteFrom('protected_tags')
        .where('project_id', '=', project.id)
        .where('name', '=', input.name)
        .returning('id')
        .executeTakeFirst();
      found(undefined, removed);
    },
  }),
];
