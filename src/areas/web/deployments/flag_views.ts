/** Views of feature flags. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import { chip, form, hidden, html, pager, rows, type Seen, type View } from '../../../pages/index.ts';
import type { FeatureFlag } from '../../deployments/feature_flags/index.ts';
import { type InProject, newButton } from './definition.ts';
import { strategyKinds } from './strategy_rules.ts';

type Flag = Static<typeof FeatureFlag>;

/** `Percentage (rollout: 30) in production, staging`. */
function strategyLine({ name, parameters, scopes, user_list }: Flag['strategies'][number]): string {
  const told = Object.entries(parameters).map(([parameter, value]) => `${parameter}: ${value}`);
  const given = user_list ? [`user list: ${user_list.name}`, ...told] : told;
  const environments = scopes.map(({ environment_scope }) => environment_scope).join(', ');
  return `${strategyKinds[name]?.label ?? name}${given.length > 0 ? ` (${given.join(', ')})` : ''} in ${environments}`;
}

export function flagsView(
  { id, flags, mayConnect }: InProject & { flags: ListPage<Flag>; mayConnect: boolean },
  seen: Seen,
): View {
  return {
    title: ['Feature flags', id],
    place: { id, kind: 'project', tab: 'feature_flags' },
    main: html`<div class="actions">${newButton(`${seen.path}/new`, 'New feature flag')}<a class="button" href="${`${seen.path}_user_lists`}">User lists</a>${
      mayConnect && html`<a class="button" href="${`${seen.path}/client`}">Connect an application</a>`
    }</div>
${rows(
  flags.items.map(
    ({ name, active, description, strategies }) =>
      html`<a class="title" href="${`${seen.path}/${name}/edit`}">${name}</a> ${chip(active ? 'on' : 'off')}
<div class="soft">${description}</div>
${strategies.map((strategy) => html`<div>${strategyLine(strategy)}</div>`)}
${form(seen, 'switch', {
  fields: [hidden('feature_flag_name', name), hidden('active', !active)],
  button: html`${active ? 'Switch off' : 'Switch on'} <span class="visually-hidden">${name}</span>`,
  look: 'plain',
  key: name,
})}`,
  ),
  'There are no feature flags yet.',
)}
${pager(flags, seen)}`,
  };
}
