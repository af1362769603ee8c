/** The strategies of a feature flag: who gets it, and where. */
import type { Static } from 'typebox';
import { invalid, type Values } from '../../../http/index.ts';
import {
  type Content,
  type Field,
  form,
  hidden,
  html,
  type PageCall,
  type PageForm,
  rows,
  type Seen,
  textIn,
  withQuery,
} from '../../../pages/index.ts';
import { FeatureFlag } from '../../deployments/feature_flags/index.ts';
import { part } from '../declared/definition.ts';
import { choicesOf } from '../declared/form_present.ts';
import { strategyKinds } from './strategy_rules.ts';

type Strategy = Static<typeof FeatureFlag>['strategies'][number];

interface Shown {
  strategies: readonly Strategy[];
  lists: Awaited<ReturnType<ReturnType<typeof choicesOf>>>;
}

const scopesOf = ({ scopes }: Strategy): string => scopes.map(({ environment_scope }) => environment_scope).join(', ');

/** The fields of a strategy: the parameters of its kind, and the environments. */
function fieldsFor(name: string, lists: Shown['lists'], strategy?: Strategy): Field[] {
  const { fields = [], takes_list } = strategyKinds[name] ?? {};
  return [
    hidden('strategy', name),
    ...fields.map((field) => ({ ...field, value: strategy?.parameters[field.name] ?? field.value })),
    ...(takes_list
      ? [
          {
            ...{ name: 'user_list_id', label: 'User list', kind: 'select' as const, options: lists },
            value: strategy?.user_list?.id,
          },
        ]
      : []),
    {
      name: 'environment_scope',
      label: 'Environments',
      value: strategy ? scopesOf(strategy) : '*',
      help: 'Names or patterns such as review/*, separated by commas. * stands for all.',
      is_required: true,
    },
  ];
}

/** The names of environments that were typed. */
const scopesIn = (fields: Values): string[] =>
  (textIn(fields, 'environment_scope') ?? '')
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '');

/** The scopes of a strategy after a change: those that are not named any more are deleted. */
function scopesAfter(before: Strategy | undefined, after: readonly string[]): Values[] {
  const kept = before?.scopes ?? [];
  const gone = kept.filter(({ environment_scope }) => !after.includes(environment_scope));
  const added = after.filter((scope) => !kept.some(({ environment_scope }) => environment_scope === scope));
  return [
    ...gone.map(({ id }) => ({ id, _destroy: true })),
    ...added.map((environment_scope) => ({ environment_scope })),
  ];
}

/** A strategy as it was filled in, as the parameters of a change of its flag. */
async function strategyIn({ one }: PageCall, fields: Values): Promise<Values> {
  const name = String(fields.strategy);
  const kind = strategyKinds[name];
  const scopes = scopesIn(fields);
  if (scopes.length === 0) throw invalid({ environment_scope: ['is missing'] });
  const { strategies } = await one(FeatureFlag, 'getFeatureFlag');
  const before = strategies.find(({ id }) => String(id) === fields.strategy_id);
  const parameters = Object.fromEntries(
    (kind?.fields ?? []).map((field) => [field.name, textIn(fields, field.name) ?? '']),
  );
  const strategy = {
    ...(before ? { id: before.id } : { name }),
    parameters,
    ...(kind?.takes_list && { user_list_id: Number(textIn(fields, 'user_list_id') ?? 0) }),
    scopes: scopesAfter(before, scopes),
  };
  return { strategies: [strategy] };
}

const forms: Readonly<Record<string, PageForm>> = {
  add_strategy: { runs: 'updateFeatureFlag', takes: strategyIn },
  change_strategy: { runs: 'updateFeatureFlag', takes: strategyIn },
  remove_strategy: {
    runs: 'updateFeatureFlag',
    takes: async (_, { strategy_id }) => ({ strategies: [{ id: strategy_id, _destroy: true }] }),
  },
};

const kindNames = Object.entries(strategyKinds).map(([name, { label }]) => [name, label] as const);

function strategyView(strategy: Strategy, lists: Shown['lists'], seen: Seen): Content {
  const { id, name, parameters, user_list } = strategy;
  const label = strategyKinds[name]?.label ?? name;
  const told = [...Object.entries(parameters).map(([each, value]) => `${each}: ${value}`), user_list?.name].filter(
    Boolean,
  );
  const own = hidden('strategy_id', id);
  return html`<strong>${label}</strong> <span class="soft">${told.join(', ')}</span>
<div class="soft">In ${scopesOf(strategy) === '*' ? 'all environments' : scopesOf(strategy)}</div>
${
  seen.query.change === String(id) &&
  form(seen, 'change_strategy', {
    fields: [own, ...fieldsFor(name, lists, strategy)],
    button: 'Save strategy',
    key: id,
  })
}
<div class="actions"><a class="button" href="${withQuery(seen, { change: id, strategy: undefined, done: undefined })}">Edit <span class="visually-hidden">${label}</span></a>${form(
    seen,
    'remove_strategy',
    { fields: [own], button: html`Delete <span class="visually-hidden">${label}</span>`, look: 'danger', key: id },
  )}</div>`;
}

/** The strategies of a flag, each with its form, and forms for new ones. */
export const strategiesPart = part<Shown>({
  forms,
  done: {
    add_strategy: 'The strategy is added.',
    change_strategy: 'The strategy is saved.',
    remove_strategy: 'The strategy is deleted.',
  },
  async load(call) {
    const [{ strategies }, lists] = await Promise.all([
      call.one(FeatureFlag, 'getFeatureFlag'),
      choicesOf('listFeatureFlagUserLists', { label: 'name' })(call),
    ]);
    return { strategies, lists };
  },
  view({ strategies, lists }, seen) {
    const asked = kindNames.find(([name]) => name === (seen.refused?.values.strategy ?? seen.query.strategy))?.[0];
    return html`<h2>For whom it is on</h2>
${rows(
  strategies.map((each) => strategyView(each, lists, seen)),
  'Nobody: without a strategy, applications do not get it.',
)}
<h3>Add a strategy</h3>
<div class="actions">${kindNames.map(
      ([name, label]) =>
        html`<a class="button" href="${withQuery(seen, { strategy: name, change: undefined, done: undefined })}" ?aria-current="${name === asked && 'true'}">${label}</a> `,
    )}</div>
${
  asked !== undefined &&
  (strategyKinds[asked]?.takes_list && lists.length === 0
    ? html`<p class="soft">There are no user lists yet. <a href="${seen.path.replace(/\/feature_flags\/.*$/, '/feature_flags_user_lists')}">Add one</a></p>`
    : form(seen, 'add_strategy', { fields: fieldsFor(asked, lists), button: 'Add strategy' }))
}`;
  },
});
