import { Type } from 'typebox';
import { GroupLevel, groupLevel, isMemberOfGroup, isMemberOfProject, levels, signedIn } from '../../../access/index.ts';
import { get, Id, nullable, one, optional, resource, Timestamp, Visibility } from '../../../http/index.ts';
import { numberedPaging, pageAsked } from '../../../lists/index.ts';
import { NamespaceBasic } from '../../people/namespaces/index.ts';
import { presentGroup } from '../groups/present.ts';
import { groupRows } from '../groups/queries.ts';
import { presentPermissions, presentProjectBasic } from '../projects/present.ts';
import { visibleProjectRows } from '../projects/queries.ts';

const TokenAssociations = resource('TokenAssociations', {
  groups: Type.Array(
    Type.Object({
      id: Id,
      web_url: Type.String(),
      name: Type.String(),
      parent_id: nullable(Id),
      access_levels: Type.Integer(),
      visibility: Visibility,
    }),
  ),
  projects: Type.Array(
    Type.Object({
      id: Id,
      description: nullable(Type.String()),
      name: Type.String(),
      name_with_namespace: Type.String(),
      path: Type.String(),
      path_with_namespace: Type.String(),
      created_at: Timestamp,
      access_levels: Type.Object({
        project_access_level: nullable(Type.Integer()),
        group_access_level: nullable(Type.Integer()),
      }),
      visibility: Visibility,
      web_url: Type.String(),
      namespace: NamespaceBasic,
    }),
  ),
});

export const tokenAssociationRoutes = [
  get('/personal_access_tokens/self/associations', {
    operation: 'listOwnTokenAssociations',
    summary: 'List the groups and projects that the current token can access, one page of each',
    access: signedIn,
    scopes: 'any',
    input: { ...numberedPaging, min_access_level: optional(GroupLevel()) },
    returns: one(TokenAssociations),
    handle: async ({ db, url, ssh_url, caller, input }) => {
      const { page, per_page } = pageAsked(input);
      const [least, offset] = [input.min_access_level ?? levels.minimal, (page - 1) * per_page];
      const groups = await groupRows(db)
        .select(groupLevel({ id: caller.id, admin: false }).as('access_levels'))
        .where(isMemberOfGroup(caller, least))
        .orderBy('namespaces.id')
        .limit(per_page)
        .offset(offset)
        .execute();
      const projects = await visibleProjectRows(db, caller)
        .where(isMemberOfProject(caller, least))
        .orderBy('projects.id')
        .limit(per_page)
        .offset(offset)
        .execute();
      return {
        groups: groups.map(({ access_levels, ...group }) => ({ ...presentGroup(url, group), access_levels })),
        projects: projects.map((row) => {
          const { project_access, group_access } = presentPermissions(caller, row);
          const access_levels = {
            project_access_level: project_access?.access_level ?? null,
            group_access_level: group_access?.access_level ?? null,
          };
          return { ...presentProjectBasic({ url, ssh_url }, row), access_levels };
        }),
      };
    },
  }),
];
