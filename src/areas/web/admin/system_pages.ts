/** The server itself: what is on it, its licence, jobs, storage, features, clusters, variables and deploy keys. */
import type { Values } from '../../../http/index.ts';
import { chip, facts, filePage, html, type PageCall, rows, state, time } from '../../../pages/index.ts';
import { fieldsOf, formOf, part, settingsPage } from '../declared/definition.ts';
import { choicesOf, formPart, reading } from '../declared/form_present.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';

interface License {
  plan: string;
  expires_at: string | null;
  expired: boolean;
  active_users: number;
  user_limit: number;
  maximum_user_count: number;
}

interface Overview {
  counts: Values;
  metadata: Values;
  license: License | null;
  jobs: { processed: number; failed: number; enqueued: number; dead: number };
  workers: number;
}

/** Everything that an administrator must know first. */
const overview = part<Overview>({
  async load(call) {
    const read = async (operation: Parameters<typeof reading>[0]) => reading(operation)(call);
    const [counts, metadata, license, stats, processes] = await Promise.all([
      read('getApplicationStatistics'),
      read('getMetadata'),
      call.perhaps(read('getCurrentLicense')),
      read('getJobStats'),
      read('getProcessMetrics'),
    ]);
    return {
      counts,
      metadata,
      license: (license ?? null) as License | null,
      jobs: stats.jobs as Overview['jobs'],
      workers: (processes.processes as unknown[]).length,
    };
  },
  view: ({ counts, metadata, license, jobs, workers }) => html`${warningsOf(license, jobs, workers).map(
    ([text, address]) => html`<p class="notice bad"><a href="${address}">${text}</a></p>`,
  )}
<h2>Health</h2>
${facts([
  ['Database', 'Answers'],
  [
    'Workers',
    `${workers}, which have run ${jobs.processed} jobs; ${jobs.enqueued} wait, ${jobs.dead} have failed for good`,
  ],
  ['Version', `${metadata.version} (${metadata.revision})`],
  ['Plan', license && `${license.plan}${license.expires_at === null ? '' : `, until ${license.expires_at}`}`],
  ['Seats', license && `${license.active_users} of ${license.user_limit === 0 ? 'any number' : license.user_limit}`],
])}
<h2>What is here</h2>
${facts(Object.entries(counts).map(([name, count]) => [words[name] ?? name, String(count)] as const))}`,
});

const words: Readonly<Record<string, string>> = {
  users: 'Users',
  active_users: 'Active users',
  groups: 'Groups',
  projects: 'Projects',
  forks: 'Forks',
  issues: 'Issues',
  merge_requests: 'Merge requests',
  notes: 'Comments',
  snippets: 'Snippets',
  ssh_keys: 'SSH keys',
  milestones: 'Milestones',
};

/** What does not work, with the page that says more. */
function warningsOf(license: License | null, { dead }: Overview['jobs'], workers: number): [string, string][] {
  return [
    ...(workers === 0
      ? ([['No process runs jobs: mail, webhooks and merges wait.', '/admin/background_jobs']] as [string, string][])
      : []),
    ...(dead > 0 ? ([[`${dead} jobs have failed for good.`, '/admin/background_jobs']] as [string, string][]) : []),
    ...(license?.expired ? ([['The licence has expired.', '/admin/license']] as [string, string][]) : []),
    ...(license && license.user_limit > 0 && license.active_users > license.user_limit
      ? ([['More people use the server than the licence allows.', '/admin/license']] as [string, string][])
      : []),
  ];
}

const seats = part<License>({
  load: async (call) => (await call.perhaps(reading('getCurrentLicense')(call))) as License | undefined,
  view: ({ plan, expires_at, active_users, user_limit, maximum_user_count }) => html`${facts([
    ['Plan', plan],
    ['Expires', expires_at],
    ['Seats taken', String(active_users)],
    ['Seats', user_limit === 0 ? 'Any number' : String(user_limit)],
    ['Most at once', String(maximum_user_count)],
  ])}${user_limit > 0 && html`<progress max="${user_limit}" value="${Math.min(active_users, user_limit)}" aria-label="Seats taken"></progress>`}
<p><a href="/admin/license/usage_export.csv">Usage as CSV</a></p>`,
});

const licensePage = settingsPage('admin', 'license', [
  seats,
  listPart('license', {
    heading: 'Licences',
    list: 'listLicenses',
    names: ({ id }) => ({ id: Number(id) }),
    title: ({ plan, id }) => `${plan} (${id})`,
    line: ['starts_at', 'expires_at', 'expired', 'user_limit'],
    empty: 'There is no licence.',
    create: formOf(
      'createLicense',
      { license: { kind: 'area', label: 'Licence', help: 'The text of the file.' } },
      { button: 'Install it', heading: 'Install a licence', is_sensitive: true, done: 'The licence is installed.' },
    ),
    buttons: {
      refresh: {
        runs: 'refreshLicenseBillableUsers',
        label: 'Count seats again',
        done: 'The seats are being counted.',
      },
      remove: {
        runs: 'deleteLicense',
        label: 'Remove',
        look: 'danger',
        is_sensitive: true,
        done: 'The licence is removed.',
      },
    },
  }),
]);

const usagePage = filePage('/admin/license/usage_export.csv', (call: PageCall) => call.bytes('exportLicenseUsage'));

interface Queue {
  backlog: number;
  latency: number;
}

const queues = part<{ queues: Record<string, Queue>; processes: Values[] }>({
  async load(call) {
    const [found, workers] = await Promise.all([reading('getQueueMetrics')(call), reading('getProcessMetrics')(call)]);
    return { queues: found.queues as Record<string, Queue>, processes: workers.processes as Values[] };
  },
  view: ({ queues: found, processes }) => {
    const waiting = Object.entries(found).filter(([, { backlog }]) => backlog > 0);
    return html`<h2>Workers</h2>
${rows(
  processes.map(
    ({ hostname, pid, started_at, concurrency, busy }) =>
      html`${String(hostname)} (${String(pid)}) <span class="soft">runs ${String(busy)} of ${String(concurrency)} jobs, since ${time(String(started_at))}</span>`,
  ),
  'No process runs jobs.',
)}
<h2>What waits</h2>
${rows(
  waiting.map(
    ([name, { backlog, latency }]) =>
      html`<code>${name}</code> <span class="soft">${String(backlog)} jobs, the oldest for ${String(latency)} s</span>`,
  ),
  'Nothing waits.',
)}`;
  },
});

const jobsPage = settingsPage('admin', 'jobs', [
  queues,
  listPart('failed', {
    heading: 'What has failed',
    list: 'listFailedJobs',
    names: ({ id }) => ({ id: Number(id) }),
    title: ({ name, id }) => `${name} (${id})`,
    head: ({ name, dead }) =>
      html`<code>${String(name)}</code> ${dead === true ? state('failed') : chip('is tried again', 'clock')}`,
    line: ({ attempts, max_attempts, run_at, dead, last_error }) =>
      html`${String(attempts)} of ${String(max_attempts)} runs${dead !== true && html`, the next ${time(String(run_at))}`}<pre class="reason">${String(last_error)}</pre>`,
    empty: 'No job has failed.',
    buttons: {
      retry: { runs: 'retryFailedJob', label: 'Try again', done: 'It is tried again.' },
      drop: { runs: 'dropFailedJob', label: 'Drop', look: 'danger', done: 'The job is dropped.' },
    },
  }),
]);

/** The storages of the server. */
async function storages(call: PageCall) {
  const { repository_storages_weighted } = await reading('getApplicationSettings')(call);
  return Object.keys(repository_storages_weighted as Values).map((value) => ({ value, label: value }));
}

const movesOf = (noun: 'Project' | 'Group' | 'Snippet') => [
  listPart(`${noun.toLowerCase()}_move`, {
    heading: `${noun}s`,
    list: `list${noun}StorageMoves`,
    names: ({ id }) => ({ id: Number(id) }),
    title: 'id',
    head: (move) => movedLink(move),
    line: (move) =>
      html`${chip(textOf(move, 'state'))} from ${textOf(move, 'source_storage_name')} to ${textOf(move, 'destination_storage_name')}, ${time(textOf(move, 'created_at'))}${move.error_message !== undefined && move.error_message !== null && html`<pre class="reason">${textOf(move, 'error_message')}</pre>`}`,
    empty: 'None was moved.',
  }),
  formPart(`move_${noun.toLowerCase()}s`, {
    ...formOf(
      `schedule${noun}StorageMoves`,
      {
        source_storage_name: { label: 'From the storage', choices: storages, help: undefined },
        destination_storage_name: {
          label: 'To',
          help: undefined,
          choices: async (call) => [{ value: '', label: 'Any other' }, ...(await storages(call))],
        },
      },
      { button: `Move all ${noun.toLowerCase()}s`, look: 'danger', done: 'The moves have begun.' },
    ),
  }),
];

/** These replies contain no address of the group, and that of projects in another form. */
function movedLink({ project, group, snippet }: Values) {
  const { path_with_namespace, name, title, web_url } = (project ?? group ?? snippet ?? {}) as Values;
  const address =
    typeof path_with_namespace === 'string' ? `/${path_with_namespace}` : new URL(String(web_url)).pathname;
  return html`<a href="${address}">${String(path_with_namespace ?? title ?? name)}</a>`;
}

const storagePage = settingsPage('admin', 'storage_moves', [
  formPart('storages', {
    ...formOf(
      'updateApplicationSettings',
      { repository_storage_move_limit: { label: 'Moves at a time', help: undefined } },
      { button: 'Save', look: 'plain' },
    ),
    reads: reading('getApplicationSettings'),
  }),
  ...movesOf('Project'),
  ...movesOf('Group'),
  ...movesOf('Snippet'),
]);

const featuresPage = settingsPage('admin', 'features', [
  listPart('feature', {
    intro: 'Switches of the server, which are on for all, for some, or for a share.',
    list: 'listFeatures',
    names: ({ name }) => ({ name: String(name) }),
    title: 'name',
    line: ({ state: own, gates }) =>
      dotted([
        own === 'on' ? 'On' : own === 'off' ? 'Off' : 'For some',
        ...(gates as { key: string; value: unknown }[])
          .filter(({ value }) => value !== false && value !== null && !(Array.isArray(value) && value.length === 0))
          .map(({ key, value }) => `${key}: ${Array.isArray(value) ? value.join(', ') : value}`),
      ]),
    empty: 'No switch is set.',
    buttons: { remove: { runs: 'deleteFeature', label: 'Unset', look: 'danger', done: 'The switch is as it comes.' } },
  }),
  formPart('set_feature', {
    ...formOf(
      'setFeature',
      {
        name: { label: 'Switch', choices: choicesOf('listFeatureDefinitions', { value: 'name', label: 'name' }) },
        value: { label: 'Value', help: 'true, false, or a share in percent.' },
        user: { label: 'Only for these users' },
        group: { label: 'Only for these groups' },
        project: { label: 'Only for these projects' },
      },
      { heading: 'Set a switch', button: 'Set it' },
    ),
  }),
]);

const clusterFields = fieldsOf({
  name: {},
  enabled: { value: true },
  managed: { value: true },
  domain: {},
  environment_scope: { label: 'Environments' },
  namespace_per_environment: { help: undefined },
  'platform_kubernetes_attributes[api_url]': {
    label: 'Address of its API',
    from: ({ platform_kubernetes }: Values) => (platform_kubernetes as Values | null)?.api_url,
  },
  'platform_kubernetes_attributes[token]': { label: 'Token', autocomplete: 'new-password', kind: 'password' },
  'platform_kubernetes_attributes[ca_cert]': {
    label: 'Its certificate',
    kind: 'area',
    from: ({ platform_kubernetes }: Values) => (platform_kubernetes as Values | null)?.ca_cert,
  },
});

const clustersPage = settingsPage('admin', 'clusters', [
  listPart('cluster', {
    list: 'listInstanceClusters',
    names: ({ id }) => ({ cluster_id: Number(id) }),
    title: 'name',
    line: ['enabled', 'managed', 'environment_scope', 'domain', 'created_at'],
    empty: 'There are no clusters.',
    create: formOf('addInstanceCluster', clusterFields, {
      button: 'Add the cluster',
      heading: 'New cluster',
      is_sensitive: true,
    }),
    edit: formOf('updateInstanceCluster', clusterFields, { button: 'Save' }),
    buttons: {
      remove: { runs: 'deleteInstanceCluster', label: 'Remove', look: 'danger', done: 'The cluster is removed.' },
    },
  }),
]);

const variableFields = fieldsOf({
  value: { kind: 'area' },
  variable_type: { label: 'Kind', words: { env_var: 'Variable', file: 'File' }, help: undefined },
  protected: { label: 'Only for protected branches and tags', help: undefined },
  masked: { label: 'Masked in logs', help: undefined },
  raw: { label: 'Taken literally: $ names no other variable', help: undefined },
  description: {},
});

const variablesPage = settingsPage('admin', 'variables', [
  listPart('variable', {
    list: 'listInstanceVariables',
    names: ({ key }) => ({ key: String(key) }),
    title: 'key',
    line: ['description', 'protected', 'masked', 'raw'],
    empty: 'There are no variables.',
    create: formOf(
      'createInstanceVariable',
      { key: {}, ...variableFields },
      { button: 'Add it', heading: 'New variable' },
    ),
    edit: formOf('updateInstanceVariable', variableFields, { button: 'Save' }),
    buttons: {
      remove: { runs: 'deleteInstanceVariable', label: 'Delete', look: 'danger', done: 'The variable is deleted.' },
    },
  }),
]);

const deployKeysPage = settingsPage('admin', 'deploy_keys', [
  listPart('key', {
    list: 'listDeployKeys',
    names: ({ id }) => ({ id: Number(id) }),
    title: 'title',
    line: ({ fingerprint_sha256, created_at, projects_with_write_access, projects_with_readonly_access }) => {
      const pathsIn = (projects: unknown) =>
        ((projects ?? []) as { path_with_namespace: string }[]).map(({ path_with_namespace }) => path_with_namespace);
      return dotted([
        html`<code>${String(fingerprint_sha256)}</code>`,
        html`since ${time(String(created_at))}`,
        ...pathsIn(projects_with_write_access).map((path) => `pushes to ${path}`),
        ...pathsIn(projects_with_readonly_access).map((path) => `reads ${path}`),
      ]);
    },
    empty: 'There are no deploy keys.',
  }),
]);

const deployTokensPage = settingsPage('admin', 'deploy_tokens', [
  listPart('token', {
    list: 'listDeployTokens',
    intro: 'Those of all projects and groups, which create and revoke them in their settings.',
    names: ({ id }) => ({ token_id: Number(id) }),
    title: 'name',
    line: ['username', 'scopes', 'expires_at', 'revoked', 'expired'],
    empty: 'There are no deploy tokens.',
  }),
]);

export const adminSystemPages = [
  settingsPage('admin', 'overview', [overview]),
  licensePage,
  usagePage,
  jobsPage,
  storagePage,
  featuresPage,
  clustersPage,
  variablesPage,
  deployKeysPage,
  deployTokensPage,
];
