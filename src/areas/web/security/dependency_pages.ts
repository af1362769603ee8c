/** Dependencies of a project or group, the files that list them, and their export. */
import { pageBelow } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import { filePage, html, type PageCall, page, pagingOf, textIn } from '../../../pages/index.ts';
import { Dependency, GroupDependency } from '../../code/dependencies/index.ts';
import { formOf, sectionPage } from '../declared/definition.ts';
import { reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dependenciesView, groupDependenciesView } from './dependency_views.ts';

/** The export that was asked for, as far as it is. */
async function exportIn(
  call: PageCall,
): Promise<{ id: number; is_finished: boolean; has_failed: boolean } | undefined> {
  const export_id = textIn(call.query, 'export');
  if (export_id === undefined) return undefined;
  const found = await call.perhaps(reading('getDependencyListExport', { export_id })(call));
  return (
    found && {
      id: Number(found.id),
      is_finished: found.status === 'finished',
      has_failed: found.status === 'failed',
    }
  );
}

const managersOf = (call: PageCall) => ({
  ...(textIn(call.query, 'package_manager') !== undefined && {
    package_manager: textIn(call.query, 'package_manager'),
  }),
});

/** SPDX documents use addresses with a UUID as their names. */
const dependenciesPages = (['/:id/-/dependencies', '/:id/-/dependencies/:export_uuid'] as const).map((path) =>
  page(path, {
    async load(call) {
      const [dependencies, asked] = await Promise.all([
        call.list(Dependency, 'listProjectDependencies', { ...pagingOf(call), ...managersOf(call) }),
        exportIn(call),
      ]);
      return { id: call.params.id!, dependencies, asked };
    },
    forms: {
      export: {
        runs: 'createDependencyListExport',
        next: ({ id }: { id: number }, { params }: PageCall) =>
          `${pageBelow.project(params.id!, 'dependencies')}?export=${id}`,
      },
    },
    view: dependenciesView,
  }),
);

const exportPage = filePage('/:id/-/dependencies/exports/:export_id', ({ bytes }) =>
  bytes('downloadDependencyListExport'),
);

const groupPage = page('/groups/:id/-/dependencies', {
  load: async (call) => ({
    id: call.params.id!,
    dependencies: await call.list(GroupDependency, 'listGroupDependencies', { ...pagingOf(call), ...managersOf(call) }),
  }),
  view: groupDependenciesView,
});

const filesPage = sectionPage(
  '/:id/-/dependency_files',
  { tab: 'dependencies', operation: 'listProjectDependencyFiles', title: 'Files of dependencies' },
  [
    listPart('document', {
      list: 'listProjectDependencyFiles',
      intro: 'Lock files and bills of materials of the default branch, and bills that were uploaded.',
      names: ({ document_id }) => ({ document_id: Number(document_id) }),
      title: 'path',
      head: ({ path }) => html`<code>${String(path)}</code>`,
      line: ({ package_manager, count, error, document_id }: Values) =>
        html`${package_manager !== null && `${package_manager}, `}${String(count)} packages${document_id !== null && ', uploaded'}${error !== null && html`<div class="bad">${String(error)}</div>`}`,
      empty: 'No file lists dependencies.',
      create: formOf(
        'createDependencyDocument',
        { file: { label: 'Bill of materials', help: 'CycloneDX 1.4 to 1.6 or SPDX 2.3 in JSON.' } },
        {
          heading: 'Upload a bill of materials',
          button: 'Upload it',
          done: 'It is uploaded.',
        },
      ),
      buttons: {
        remove: {
          runs: 'deleteDependencyDocument',
          label: 'Delete',
          look: 'danger',
          isFor: ({ document_id }) => document_id !== null,
          done: 'The document is deleted.',
        },
      },
    }),
  ],
);

export const dependencyPages = [filesPage, exportPage, ...dependenciesPages, groupPage];
