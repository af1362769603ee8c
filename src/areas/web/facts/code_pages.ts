/** Snippets, errors, vulnerabilities, dependencies, and user lists of feature flags. */
import type { Values } from '../../../http/index.ts';
import { type Content, chip, filePage, html, person, state as shownState } from '../../../pages/index.ts';
import { type Facts, factPage } from './definition.ts';

const vulnerabilityLine = ({ name, url, severity, state }: Values): Content =>
  html`<a href="${new URL(String(url)).pathname}">${String(name)}</a> ${shownState(String(severity))} ${shownState(String(state))}`;

const dependencyLine = ({ name, version, package_manager, dependency_file_path }: Values): Content =>
  html`${String(name)} ${String(version)}
<div class="soft">${String(package_manager)}, in ${String(dependency_file_path)}</div>`;

const dependencies = {
  title: () => 'Dependencies',
  tab: 'dependencies',
  lists: [{ heading: 'What the project depends on', operation: 'listProjectDependencies', line: dependencyLine }],
} satisfies Facts;

export const codeFactPages = [
  factPage('/:id/-/snippets/:snippet_id', {
    read: ({ described }) => described('getProjectSnippet'),
    tab: 'snippets',
    title: ({ title }) => String(title),
    discussions: { operation: 'showSnippetDiscussions' },
  }),
  filePage('/:id/-/snippets/:snippet_id/raw', ({ bytes }) => bytes('getRawProjectSnippet')),
  filePage('/:id/-/snippets/:snippet_id/raw/:ref/*file_path', ({ bytes }) => bytes('getRawProjectSnippetFile')),
  factPage('/:id/-/snippets', {
    tab: 'snippets',
    title: () => 'Snippets',
    lists: [{ heading: 'All snippets', operation: 'listProjectSnippets', line: snippetLine }],
  }),
  factPage('/-/snippets/:id', {
    read: ({ described }) => described('getSnippet'),
    title: ({ title }) => String(title),
  }),
  filePage('/-/snippets/:id/raw', ({ bytes }) => bytes('getRawSnippet')),
  filePage('/-/snippets/:id/raw/:ref/*file_path', ({ bytes }) => bytes('getRawSnippetFile')),
  factPage('/:id/-/security/vulnerabilities/:vulnerability_id', {
    read: ({ described }) => described('getProjectVulnerability'),
    tab: 'vulnerabilities',
    title: ({ name }) => String(name),
  }),
  factPage('/:id/-/security/vulnerabilities', {
    title: () => 'Vulnerabilities',
    tab: 'vulnerabilities',
    lists: [{ heading: 'Vulnerabilities', operation: 'listProjectVulnerabilities', line: vulnerabilityLine }],
  }),
  factPage('/:id/-/dependencies', dependencies),
  factPage('/:id/-/feature_flags_user_lists/:iid', {
    read: ({ described }) => described('getFeatureFlagUserList'),
    tab: 'feature_flags',
    title: ({ name }) => String(name),
  }),
  // SPDX documents use such addresses as their names.
  factPage('/:id/-/dependencies/:export_uuid', dependencies),
];

function snippetLine({ web_url, title, visibility, author }: Values): Content {
  return html`<a class="title" href="${new URL(String(web_url)).pathname}">${String(title)}</a> ${chip(String(visibility))}
<div class="soft">By ${person(author as Parameters<typeof person>[0])}</div>`;
}
