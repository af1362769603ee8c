/** Views of dependencies. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  form,
  type Html,
  html,
  pager,
  rows,
  type Seen,
  state,
  type View,
} from '../../../pages/index.ts';
import type { Dependency, GroupDependency } from '../../code/dependencies/index.ts';
import { pathOf } from '../issuables/present.ts';

type Listed = Static<typeof Dependency>;

/** Why it is here, its licence, and what is known to be wrong with it, the most severe first. */
function dependencyRow(dependency: Listed, place?: Content): Html {
  const {
    name,
    version,
    package_manager,
    dependency_file_path,
    licenses,
    vulnerabilities = [],
    direct,
    development,
  } = dependency;
  return html`<strong>${name}</strong> ${version} ${direct !== null && chip(direct ? 'direct' : 'via another package')} ${development && chip('for development')} ${licenses.map((each) => [chip(each.spdx_identifier ?? each.name), ' '])}
<div class="soft">${place && html`${place}, `}${package_manager}, in ${dependency_file_path}</div>
${vulnerabilities.map((each) => html`<div>${state(each.severity)} <a href="${pathOf(each.url)}">${each.name}</a></div>`)}`;
}

interface Export {
  id: number;
  is_finished: boolean;
  has_failed: boolean;
}

const exportView = ({ id, is_finished, has_failed }: Export, seen: Seen): Html =>
  html`<p class="notice" role="status">${
    is_finished
      ? html`The export is ready: <a href="${`${seen.path}/exports/${id}`}" download>Download it</a>`
      : has_failed
        ? 'The export has failed. Its file would be too large.'
        : html`The export is being written. <a href="${`${seen.path}?export=${id}`}">Look again</a>`
  }</p>`;

const formats = [
  { value: 'cyclonedx_1_6_json', label: 'CycloneDX 1.6' },
  { value: 'spdx_2_3_json', label: 'SPDX 2.3' },
  { value: 'csv', label: 'CSV' },
];

export const dependenciesView = (
  { id, dependencies, asked }: { id: string; dependencies: ListPage<Listed>; asked: Export | undefined },
  seen: Seen,
): View => ({
  title: ['Dependencies', id],
  place: { id, kind: 'project', tab: 'dependencies' },
  main: html`${asked && exportView(asked, seen)}
<div class="actions">${seen.caller && html`<a class="button" href="${seen.path.replace(/\/dependencies(\/.*)?$/, '/dependency_files')}">Files</a>`}</div>
${rows(
  dependencies.items.map((each) => dependencyRow(each)),
  'No file of the default branch lists dependencies.',
)}
${pager(dependencies, seen)}
${form(seen, 'export', {
  fields: [{ name: 'export_type', label: 'Format', kind: 'select', options: formats }],
  button: 'Export the dependencies',
  look: 'plain',
})}`,
});

export const groupDependenciesView = (
  { id, dependencies }: { id: string; dependencies: ListPage<Static<typeof GroupDependency>> },
  seen: Seen,
): View => ({
  title: ['Dependencies', id],
  place: { id, kind: 'group', tab: 'dependencies' },
  main: html`${rows(
    dependencies.items.map((each) =>
      dependencyRow(
        each,
        html`<a href="${`/${each.project.path_with_namespace}`}">${each.project.path_with_namespace}</a>`,
      ),
    ),
    'No project of the group lists dependencies.',
  )}
${pager(dependencies, seen)}`,
});
