/** The security policies of projects and groups: where they come from, which are in force, and what is wrong with their files (docs/reference/security_policies.md#pages). */
import type { Static } from 'typebox';
import { groupPage, projectPage } from '../../../access/index.ts';
import { capitalized } from '../../../http/index.ts';
import { type Content, chip, html, type PageCall, rows } from '../../../pages/index.ts';
import { type PolicyLink, policyPath, type SecurityPolicy } from '../../code/security_policies/index.ts';
import { formOf, part, settingsPage } from '../declared/definition.ts';
import { formPart } from '../declared/form_present.ts';
import { dotted } from '../declared/views.ts';

type Kind = 'project' | 'group';
type Link = Static<typeof PolicyLink>;
type Policy = Static<typeof SecurityPolicy>;

const linkOf = async ({ described }: PageCall, kind: Kind): Promise<Link | null> =>
  (await described(`get${capitalized(kind)}SecurityPolicyProject`)).reply as Link | null;

interface Shown {
  link: Link | null;
  policies: readonly Policy[];
}

const linkView = ({ name_with_namespace, inherited_from }: Link, kind: Kind): Content =>
  html`<p>The policy project of this ${kind} is <strong>${name_with_namespace}</strong>${
    inherited_from !== null && html`, through the group <a href="${groupPage(inherited_from)}">${inherited_from}</a>`
  }.</p>`;

/** What is wrong with the newest version of each file. */
function errorsView(policies: readonly Policy[]): Content {
  const files = new Map(policies.map((policy) => [policy.source.full_path, policy]));
  return [...files].map(
    ([path, { errors, type }]) =>
      errors.length > 0 &&
      html`<section class="refusal"><h2>The file of ${path} has errors</h2>
<p>${type === null ? 'No version of it is in force.' : 'The version before it stays in force.'}</p><ul>${errors.map((error) => html`<li>${error}</li>`)}</ul></section>`,
  );
}

/** To which projects a policy applies, in words. */
function scopeLine({ scope }: Policy): string {
  if (scope === null) return '';
  const { projects, groups, compliance_frameworks: frameworks } = scope;
  const isLimited = [projects.including, projects.excluding, groups.including, groups.excluding, frameworks].some(
    (ids) => ids.length > 0,
  );
  return isLimited ? 'for some projects' : 'for all projects';
}

const policyRow = (policy: Policy): Content => {
  const { name, description, enabled, source } = policy;
  return html`<strong>${name}</strong> ${!enabled && chip('off')}
${description !== null && html`<p>${description}</p>`}<div class="soft">${dotted([
    html`from <a href="${projectPage(source.full_path)}">${source.full_path}</a>`,
    source.inherited_from === null ? '' : `through the group ${source.inherited_from}`,
    scopeLine(policy),
  ])}</div>`;
};

const statePart = (kind: Kind) =>
  part<Shown>({
    async load(call) {
      const [link, { reply }] = await Promise.all([
        linkOf(call, kind),
        call.described(`list${capitalized(kind)}SecurityPolicies`),
      ]);
      return { link, policies: reply as readonly Policy[] };
    },
    view: ({ link, policies }) => html`${
      link
        ? linkView(link, kind)
        : html`<p class="soft">Policies say in the file <code>${policyPath}</code> of another project which approvals merge requests need. This ${kind} has no policy project.</p>`
    }
${errorsView(policies)}<h2>In force</h2>
${rows(policies.filter(({ type }) => type !== null).map(policyRow), 'No policies are in force.')}`,
  });

const formParts = (kind: Kind) => {
  const noun = capitalized(kind);
  return [
    formPart('link', {
      ...formOf(
        `update${noun}SecurityPolicyProject`,
        { project_id: { label: 'Policy project', help: 'The path of a project of the same top-level group.' } },
        {
          heading: 'Link to a policy project',
          button: 'Link',
          done: 'Linked. The file is read a moment later.',
        },
      ),
    }),
    formPart('unlink', {
      ...formOf(
        `delete${noun}SecurityPolicyProject`,
        {},
        { button: 'End the link', look: 'danger', done: 'The link has ended.' },
      ),
      reads: async (call) => (await linkOf(call, kind)) ?? { inherited_from: '' },
      isShown: ({ inherited_from }) => inherited_from === null,
    }),
  ];
};

export const securityPolicyPages = [
  settingsPage('project', 'security_policies', [statePart('project'), ...formParts('project')]),
  settingsPage('group', 'security_policies', [statePart('group'), ...formParts('group')]),
];
