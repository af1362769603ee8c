/** New groups and projects. */
import { groupPage, projectPage } from '../../../access/index.ts';
import { type Field, form, html, page } from '../../../pages/index.ts';
import { GroupDetailForm } from '../../spaces/groups/index.ts';
import { namespacesFor } from '../../spaces/projects/index.ts';
import { guidelinesOf } from '../house/queries.ts';

const nameFields = (named: 'group' | 'project'): Field[] => [
  { name: 'name', label: 'Name', is_required: true, is_clearable: true, maximum: 255 },
  {
    name: 'path',
    label: 'Path',
    is_required: named === 'group' ? true : undefined,
    maximum: 255,
    help: `The part of the address that stands for the ${named}: letters, digits, “-”, “_” and “.”.${named === 'project' ? ' Left empty, it is made from the name.' : ''}`,
  },
  { name: 'description', label: 'Description', kind: 'area', maximum: named === 'group' ? 500 : 2000 },
  {
    name: 'visibility',
    label: 'Who may see it',
    kind: 'select',
    value: '',
    refused_as: ['visibility_level'],
    options: [
      { value: '', label: 'As usual here' },
      { value: 'private', label: 'Private: members' },
      { value: 'internal', label: 'Internal: everyone who is signed in' },
      { value: 'public', label: 'Public: everyone' },
    ],
  },
];

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;

export const newGroupPage = page('/groups/new', {
  signed_in: true,
  load: ({ one, query }) => {
    const parent_id = numberIn(query.parent_id);
    return parent_id === undefined
      ? Promise.resolve(undefined)
      : one(GroupDetailForm, 'getGroup', { id: parent_id, with_projects: false });
  },
  forms: {
    create: { runs: 'createGroup', next: ({ full_path }: { full_path: string }) => groupPage(full_path) },
  },
  view: (parent, seen) => ({
    title: [parent ? 'New subgroup' : 'New group'],
    ...(parent && { place: { id: parent.full_path, kind: 'group' as const } }),
    main: html`<p>A group holds projects and other groups. Its members are members of all that is in it.</p>
${form(seen, 'create', {
  fields: [
    ...nameFields('group'),
    ...(parent ? [{ name: 'parent_id', label: '', kind: 'hidden' as const, value: parent.id }] : []),
  ],
  button: 'Create the group',
})}`,
  }),
});

export const newProjectPage = page('/projects/new', {
  signed_in: true,
  load: async (call) => ({
    namespaces: await namespacesFor(call.services.db, call.caller!),
    guidelines: await guidelinesOf(call, 'new_project_guidelines'),
  }),
  forms: {
    create: {
      runs: 'createProject',
      next: ({ path_with_namespace }: { path_with_namespace: string }) => projectPage(path_with_namespace),
    },
  },
  view: ({ namespaces, guidelines }, seen) => ({
    title: ['New project'],
    main: html`${guidelines}${form(seen, 'create', {
      fields: [
        {
          name: 'namespace_id',
          label: 'Owner',
          kind: 'select',
          refused_as: ['namespace'],
          value: numberIn(seen.query.namespace_id) ?? namespaces[0]?.id,
          options: namespaces.map(({ id, full_path }) => ({ value: id, label: full_path })),
        },
        ...nameFields('project'),
        { name: 'initialize_with_readme', label: 'Begin with a README', kind: 'checkbox' },
      ],
      button: 'Create the project',
    })}`,
  }),
});
