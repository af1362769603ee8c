/** The forks of a project, and a new one. */
import { projectPage } from '../../../access/index.ts';
import { form, html, page, pagingOf } from '../../../pages/index.ts';
import { namespacesFor, ProjectWithAccessForm } from '../../spaces/projects/index.ts';
import { projectRows } from '../groups/views.ts';
import { newForkPage } from '../repository/address_rules.ts';

export const forkListPage = page('/:id/-/forks', {
  load: async (call) => ({
    id: call.params.id!,
    forks: await call.list(ProjectWithAccessForm, 'listProjectForks', { per_page: 40, ...pagingOf(call) }),
  }),
  view: ({ id, forks }, seen) => ({
    title: ['Forks', id],
    place: { id, kind: 'project', tab: 'code' },
    main: html`${seen.caller && html`<p class="actions"><a class="button primary" href="${newForkPage(id)}">Fork the project</a></p>`}
${projectRows(forks, seen, 'There are no forks that you may see.')}`,
  }),
});

const visibilities = [
  { value: '', label: 'As the project' },
  { value: 'private', label: 'Private: members' },
  { value: 'internal', label: 'Internal: everyone who is signed in' },
  { value: 'public', label: 'Public: everyone' },
];

export const newForkPages = page('/:id/-/forks/new', {
  signed_in: true,
  load: async (call) => {
    const [project, namespaces] = await Promise.all([
      call.one(ProjectWithAccessForm, 'getProject'),
      namespacesFor(call.services.db, call.caller!),
    ]);
    return { project, namespaces };
  },
  forms: {
    fork: {
      runs: 'forkProject',
      next: ({ path_with_namespace }: { path_with_namespace: string }) => projectPage(path_with_namespace),
    },
  },
  view: ({ project, namespaces }, seen) => ({
    title: ['Fork the project', project.path_with_namespace],
    place: { id: project.path_with_namespace, kind: 'project', tab: 'code' },
    main: html`<p>A fork is a project of its own with a copy of the repository, from which you propose changes to ${project.path_with_namespace}.</p>
${
  form(seen, 'fork', {
    fields: [
      {
        name: 'namespace_id',
        label: 'Owner',
        kind: 'select',
        refused_as: ['namespace'],
        options: namespaces.map(({ id, full_path }) => ({ value: id, label: full_path })),
      },
      { name: 'name', label: 'Name', value: project.name, maximum: 255 },
      {
        name: 'path',
        label: 'Path',
        value: project.path,
        maximum: 255,
        help: 'The part of the address that stands for the project.',
      },
      {
        name: 'visibility',
        label: 'Who may see it',
        kind: 'select',
        refused_as: ['visibility_level'],
        options: visibilities,
      },
    ],
    button: 'Fork the project',
  }) ?? html`<p class="soft">You may not fork this project.</p>`
}`,
  }),
});
