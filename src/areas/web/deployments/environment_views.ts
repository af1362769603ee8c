/** Views of environments and deployments. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  chip,
  facts,
  form,
  html,
  mergeRequestState,
  pager,
  person,
  rows,
  type Seen,
  state,
  time,
  type View,
} from '../../../pages/index.ts';
import { counted } from '../../../texts/index.ts';
import {
  type Deployment,
  type DeploymentDetails,
  deploymentPage,
  type Environment,
  type EnvironmentInList,
  environmentPage,
} from '../../deployments/environments/index.ts';
import type { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { pathOf } from '../issuables/present.ts';
import { type InProject, newButton, revision, type WithCommits } from './definition.ts';

const outside = (address: string | null): Content =>
  address !== null && html`<a href="${address}" rel="nofollow noopener">${address}</a>`;

export function environmentsView(
  {
    id,
    environments,
    mayCreate,
  }: InProject & { environments: ListPage<Static<typeof EnvironmentInList>>; mayCreate: boolean },
  seen: Seen,
): View {
  return {
    title: ['Environments', id],
    place: { id, kind: 'project', tab: 'environments' },
    main: html`${mayCreate && html`<div class="actions">${newButton(`${seen.path}/new`, 'New environment')}<a class="button" href="${`${seen.path}/clean_up`}">Clean up</a></div>`}
${rows(
  environments.items.map(
    (each) =>
      html`<a class="title" href="${environmentPage(id, each.id)}">${each.name}</a> ${chip(each.tier)} ${state(each.state)}
<div class="soft">${outside(each.external_url)}</div>`,
  ),
  'There are no environments yet. A first deployment makes one.',
)}
${pager(environments, seen)}`,
  };
}

export function environmentView(
  shown: WithCommits & {
    environment: Static<typeof Environment>;
    deployments: ListPage<Static<typeof Deployment>>;
    mayEdit: boolean;
  },
  seen: Seen,
): View {
  const { id, environment, deployments, mayEdit } = shown;
  return {
    title: [environment.name, 'Environments', id],
    place: { id, kind: 'project', tab: 'environments' },
    main: html`${
      mayEdit &&
      html`<div class="actions"><a class="button" href="${`${seen.path}/edit`}">Edit</a>${
        environment.state === 'stopped'
          ? form(seen, 'remove', { button: 'Delete environment', look: 'danger' })
          : form(seen, 'stop', { button: 'Stop', look: 'plain' })
      }</div>`
    }
${facts([
  ['State', state(environment.state)],
  ['Tier', environment.tier],
  ['Description', environment.description],
  ['Address', outside(environment.external_url)],
  ['Stops on', time(environment.auto_stop_at)],
  ['Created', time(environment.created_at)],
])}
<h2>Deployments</h2>
${rows(
  deployments.items.map(
    (each) =>
      html`${state(each.status)} <a class="title" href="${deploymentPage(id, each.id)}">#${each.iid}</a> ${revision(shown, each)}
<div class="soft">By ${person(each.user)}, ${time(each.created_at)}</div>`,
  ),
  'Nothing was deployed here yet.',
)}
${pager(deployments, seen)}`,
  };
}

type Details = Static<typeof DeploymentDetails>;

/** Who has approved or rejected it, and what is still missing. */
const approvalsView = ({ approvals, approval_summary, pending_approval_count }: Details, seen: Seen): Content =>
  html`<h2>Approvals</h2>
${pending_approval_count > 0 && html`<p>${counted(pending_approval_count, 'approval')} missing.</p>`}
${facts(
  approval_summary.rules.map(({ access_level_description, required_approvals, deployment_approvals }) => [
    access_level_description,
    `${deployment_approvals.length} of ${required_approvals}`,
  ]),
)}
${rows(
  approvals.map(
    (each) =>
      html`${person(each.user)} ${each.status} it ${time(each.created_at)}${each.comment && html`<div>${each.comment}</div>`}`,
  ),
  'Nobody has approved it yet.',
)}
${
  pending_approval_count > 0 &&
  form(seen, 'approve', {
    fields: [
      { name: 'comment', label: 'Comment', maximum: 255 },
      { name: 'override_freeze', label: 'Also during a freeze', kind: 'checkbox', help: 'For Maintainers.' },
    ],
    button: 'Approve',
    also: { name: 'reject', button: 'Reject' },
  })
}`;

export function deploymentView(
  shown: WithCommits & {
    deployment: Details;
    merge_requests: ListPage<Static<typeof MergeRequestInList>> | undefined;
  },
  seen: Seen,
): View {
  const { id, deployment, merge_requests } = shown;
  const { environment, approval_summary } = deployment;
  return {
    title: [`Deployment #${deployment.iid}`, environment.name, id],
    place: { id, kind: 'project', tab: 'environments' },
    main: html`${facts([
      ['Status', state(deployment.status)],
      ['Environment', html`<a href="${environmentPage(id, environment.id)}">${environment.name}</a>`],
      ['Revision', revision(shown, deployment)],
      ['Deployed by', person(deployment.user)],
      ['Began', time(deployment.created_at)],
      ['Ended', time(deployment.finished_at)],
      ['Freeze', deployment.during_freeze && 'Deployed during a freeze'],
    ])}
${approval_summary.rules.length > 0 && approvalsView(deployment, seen)}
${
  merge_requests &&
  html`<h2>Merge requests</h2>
${rows(
  merge_requests.items.map(
    (each) =>
      html`${mergeRequestState(each.state)} <a class="title" href="${pathOf(each.web_url)}">${each.title}</a> <span class="soft">${each.references?.relative}</span>`,
  ),
  'It brought no merge request to the environment.',
)}
${pager(merge_requests, seen)}`
}`,
  };
}
