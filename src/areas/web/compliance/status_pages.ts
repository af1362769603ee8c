/** What projects do not meet of their compliance frameworks, and merge requests that were merged in spite of their approvals (docs/reference/pages.md#security). */
import { pagePath } from '../../../foundation/addresses.ts';
import type { Values } from '../../../http/index.ts';
import { type Content, chip, filePage, html, person, rows, time } from '../../../pages/index.ts';
import type { ComplianceStatus } from '../../work/compliance/index.ts';
import { part, sectionPage } from '../declared/definition.ts';
import { reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';

const statusPage = pagePath('/:project/-/security/compliance');

const words = { pass: 'met', fail: 'not met' } as const;

const mark = (status: 'pass' | 'fail'): Content => chip(words[status]);

/** The frameworks of a project, with what it has to do. */
const frameworksView = ({ frameworks }: ComplianceStatus): Content =>
  frameworks.map(
    ({ name, status, requirements }) => html`<h2>${name} ${mark(status)}</h2>
${rows(
  requirements.map(
    (requirement) => html`<strong>${requirement.name}</strong> ${mark(requirement.status)}
${requirement.description && html`<div class="soft">${requirement.description}</div>`}
${requirement.failed.map(({ sentence, web_url }) => html`<div><a href="${new URL(web_url).pathname}">${sentence}</a></div>`)}`,
  ),
  'It has no requirements.',
)}`,
  );

const sentenceOf = ({ status }: ComplianceStatus): string =>
  status === 'pass'
    ? 'All requirements are met.'
    : 'Some requirements are not met. Each sentence leads to the page that changes it.';

const ofProject = part({
  load: async (call) => ({ status: await call.perhaps(reading('getProjectComplianceStatus')(call)) }),
  view: ({ status }) => {
    const known = status as ComplianceStatus | undefined;
    if (!known) return html`<p class="soft">The project has no compliance frameworks.</p>`;
    return html`<p>${sentenceOf(known)}</p>${frameworksView(known)}`;
  },
});

const projects = listPart('project', {
  list: 'listComplianceStatus',
  heading: 'Projects with frameworks',
  names: (item) => ({ project_id: (item as unknown as ComplianceStatus).project.id }),
  title: (item) => (item as unknown as ComplianceStatus).project.path_with_namespace,
  head: (item) => {
    const { project, status } = item as unknown as ComplianceStatus;
    return html`<a href="${statusPage(project.path_with_namespace)}">${project.path_with_namespace}</a> ${mark(status)}`;
  },
  line: (item) => {
    const { frameworks } = item as unknown as ComplianceStatus;
    const failed = frameworks.flatMap(({ requirements }) => requirements.flatMap((each) => each.failed));
    const sentences = new Map(failed.map(({ sentence, web_url }) => [sentence, web_url]));
    return [...sentences].map(
      ([sentence, web_url]) => html`<div><a href="${new URL(web_url).pathname}">${sentence}</a></div>`,
    );
  },
  empty: 'No project has a compliance framework.',
});

const reasonWords: Readonly<Record<string, string>> = {
  approved_by_author: 'approved by its author',
  approved_by_committer: 'approved by somebody who has added commits',
  approved_by_insufficient_users: 'approved by fewer than two people',
};

const violations = listPart('violation', {
  list: 'listComplianceViolations',
  heading: 'Merged in spite of their approvals',
  names: ({ id }) => ({ violation_id: Number(id) }),
  title: ({ merge_request }) => String((merge_request as Values).title),
  head: ({ merge_request }) => {
    const { title, web_url } = merge_request as Record<string, string>;
    return html`<a href="${new URL(web_url!).pathname}">${title}</a>`;
  },
  line: ({ reason, severity, violating_user, merged_at }) =>
    html`${chip(String(severity))} ${reasonWords[String(reason)]}${violating_user !== null && html` · ${person(violating_user as Parameters<typeof person>[0])}`} · ${time(String(merged_at))}`,
  empty: 'There is none.',
});

const custody = part({
  load: async () => true,
  view: (_shown, { path }) => html`<p><a href="${path}.csv">Chain of custody as CSV</a></p>`,
});

const custodyPage = filePage('/groups/:id/-/security/compliance.csv', ({ bytes }) => bytes('exportMergeCommitReport'), {
  is_costly: true,
});

export const complianceStatusPages = [
  custodyPage,
  sectionPage(
    '/:id/-/security/compliance',
    { tab: 'compliance', operation: 'getProjectComplianceStatus', title: 'Compliance' },
    [ofProject],
  ),
  sectionPage(
    '/groups/:id/-/security/compliance',
    { tab: 'compliance', operation: 'listComplianceStatus', title: 'Compliance' },
    [projects, violations, custody],
  ),
];
