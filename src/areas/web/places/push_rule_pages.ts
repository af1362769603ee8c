/** The push rules of projects and groups, with a box to try them against real commits. */
import { commitKind } from '../../../access/index.ts';
import { ApiError, messageOf, type Values } from '../../../http/index.ts';
import {
  type Content,
  type Field,
  form,
  html,
  type PageCall,
  refusalIn,
  rows,
  type Seen,
  textIn,
} from '../../../pages/index.ts';
import { fieldsOf, formOf, part, settingsPage } from '../declared/definition.ts';
import { fieldsFor } from '../declared/form_present.ts';

const fields = fieldsOf({
  commit_message_regex: { label: 'Message must match' },
  commit_message_negative_regex: { label: 'Message must not match' },
  author_email_regex: { label: 'Addresses must match' },
  branch_name_regex: { label: 'Branch names must match' },
  file_name_regex: { label: 'Paths of new files must not match' },
  max_file_size: { label: 'Largest new file, in MiB' },
  prevent_secrets: { label: 'Refuse files that are likely to be secrets', help: undefined },
  member_check: { label: 'Authors must be users of this server', help: undefined },
  commit_committer_check: { label: 'The committer must be who pushes, by a verified address', help: undefined },
  commit_committer_name_check: { label: 'The name of the author must be that of who pushes', help: undefined },
  reject_unsigned_commits: { label: 'Only signed commits', help: undefined },
  reject_non_dco_commits: { label: 'Only commits with a Signed-off-by line', help: undefined },
  deny_delete_tag: { label: 'Tags cannot be deleted by a push', help: undefined },
});

const noRule: Values = Object.fromEntries(Object.keys(fields).map((name) => [name, null]));

/** How many commits a rule is tried against. */
const triedCommits = 20;

interface Check {
  checked: { commits: number };
  violations: readonly { rule: string; commit_id: string | null; file_path: string | null; message: string }[];
  violations_count: number;
}

interface Shown {
  id: string;
  /** Whether a rule is stored. */
  exists: boolean;
  fields: readonly Field[];
  tried: Check | string | undefined;
}

/** The fields of the rule in a query; empty patterns are no rule. */
const triedIn = (query: Values): Values =>
  Object.fromEntries(
    Object.keys(fields).flatMap((name) => {
      const value = [query[name]].flat().at(-1);
      if (value === undefined) return [];
      return [[name, value === '' ? null : value]];
    }),
  );

/** What the newest commits say to the rule, or why it cannot be tried. */
async function tryRule({ described, query }: PageCall): Promise<Check | string> {
  try {
    const { reply } = await described('checkProjectPushRule', { ...triedIn(query), commits: triedCommits });
    return reply as Check;
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return messageOf(error);
    throw error;
  }
}

function triedView(id: string, tried: Check | string): Content {
  if (typeof tried === 'string') return html`<p class="refusal" role="status">${tried}</p>`;
  const { checked, violations, violations_count } = tried;
  return html`<section><h2>Tried, not saved</h2>
<p class="notice" role="status"><strong>${
    violations_count === 0
      ? `None of the newest ${checked.commits} commits would be refused.`
      : `${violations_count} times, the newest ${checked.commits} commits would be refused.`
  }</strong></p>
${
  violations.length > 0 &&
  rows(
    violations.map(
      ({ commit_id, file_path, message }) =>
        html`${commit_id !== null && html`<a href="${commitKind.page(id, commit_id)}"><code>${commit_id.slice(0, 8)}</code></a> `}${file_path !== null && html`<code>${file_path}</code> `}<span class="bad">${message}</span>`,
    ),
    '',
  )
}</section>`;
}

const rulePart = (noun: 'Project' | 'Group') =>
  part<Shown>({
    forms: {
      update_rule: { runs: `update${noun}PushRule` },
      create_rule: { runs: `create${noun}PushRule` },
      delete_rule: { runs: `delete${noun}PushRule` },
    },
    done: { update_rule: 'Saved.', create_rule: 'Saved.', delete_rule: 'There are no push rules any more.' },
    async load(call) {
      const found = await call.perhaps(call.described(`get${noun}PushRule`));
      const rule = (found?.reply ?? undefined) as Values | undefined;
      const isTrial = noun === 'Project' && textIn(call.query, 'try') !== undefined;
      const declared = formOf(`update${noun}PushRule`, fields, { button: '' });
      return {
        id: call.params.id!,
        exists: rule !== undefined,
        fields: await fieldsFor(call, declared, { ...noRule, ...rule, ...(isTrial && triedIn(call.query)) }),
        tried: isTrial ? await tryRule(call) : undefined,
      };
    },
    view: (
      { id, exists, fields: shown, tried },
      seen,
    ) => html`<p class="soft">Every push is checked against these rules before it is accepted. Patterns are regular expressions (RE2); an empty one is not checked.</p>
${tried !== undefined && triedView(id, tried)}
${form(seen, nameFor(seen, exists), {
  fields: shown,
  button: 'Save push rules',
  ...(noun === 'Project' && { tries: { name: 'try', button: 'Try without saving' } }),
})}
${exists && form(seen, 'delete_rule', { button: 'Remove all rules', look: 'danger' })}`,
  });

/** The form for the rule, also if it was stored or removed since it was sent. */
const nameFor = (seen: Seen, exists: boolean): string =>
  (['create_rule', 'update_rule'] as const).find((name) => refusalIn(seen, name)) ??
  (exists ? 'update_rule' : 'create_rule');

export const pushRulePages = [
  settingsPage('project', 'push_rules', [rulePart('Project')]),
  settingsPage('group', 'push_rules', [rulePart('Group')]),
];
