/** Views of checked configurations of pipelines. */
import type { Static } from 'typebox';
import { type Content, form, type Html, html, rows, type Seen, state, type View } from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import type { LintResult } from '../../ci/configuration/index.ts';

type Result = Static<typeof LintResult>;
type Job = NonNullable<Result['jobs']>[number];

const place = (id: string) => ({ id, kind: 'project', tab: 'ci_lint' }) as const;

const list = (texts: readonly string[], look: string): Content =>
  texts.length > 0 && html`<ul>${texts.map((text) => html`<li class="${look}">${text}</li>`)}</ul>`;

const jobRow = ({ name, stage, when, allow_failure, environment, needs }: Job): Html =>
  html`<strong>${name}</strong> ${state(stage)}
<div class="soft">${[
    when !== 'on_success' && `${when.replace('_', ' ')}`,
    allow_failure && 'may fail',
    environment !== null && `for ${environment}`,
    needs !== null && (needs.length > 0 ? `needs ${needs.map((need) => need.name).join(', ')}` : 'starts at once'),
  ]
    .filter((each) => each !== false)
    .join(' · ')}</div>`;

function resultView({ valid, errors, warnings, jobs, includes, merged_yaml }: Result): Html {
  return html`<p class="${valid ? 'notice' : 'refusal'}" role="status"><strong>${
    valid ? 'The configuration is valid.' : 'The configuration is not valid.'
  }</strong></p>
${list(errors, 'bad')}
${list(warnings, 'soft')}
${jobs !== null && valid && html`<h2>${counted(jobs.length, 'job')}</h2>${rows(jobs.map(jobRow), '')}`}
${
  includes.length > 0 &&
  html`<h2>Included files</h2><ul>${includes.map(
    ({ location, blob }) =>
      html`<li>${blob === null ? html`<code>${location}</code>` : html`<a href="${blob}"><code>${location}</code></a>`}</li>`,
  )}</ul>`
}
${merged_yaml !== null && html`<details><summary>Merged configuration</summary><pre tabindex="0"><code>${merged_yaml}</code></pre></details>`}`;
}

/** The check of a text, in place of the page with the form. */
export const lintedView = ({ id, result }: { id: string; result: Result }, back: string): View => ({
  title: ['Checked configuration', id],
  place: place(id),
  main: html`${resultView(result)}
<p><a class="button" href="${back}">Back</a></p>`,
});

export function lintView({ id, result }: { id: string; result: Result | undefined }, seen: Seen): View {
  return {
    title: ['Configuration of pipelines', id],
    place: place(id),
    main: html`${result ? resultView(result) : html`<p class="soft">There are no commits yet.</p>`}
${
  seen.may('check') &&
  html`<h2>Check a text</h2>
${form(seen, 'check', {
  fields: [
    { name: 'content', label: 'Configuration', kind: 'area', rows: 16, is_required: true, code_of: '.gitlab-ci.yml' },
    { name: 'ref', label: 'Branch or tag', help: 'The default branch, if it is left empty.' },
    { name: 'dry_run', label: 'Only the jobs that a push would start', kind: 'checkbox', value: true },
  ],
  button: 'Check',
})}`
}`,
  };
}
