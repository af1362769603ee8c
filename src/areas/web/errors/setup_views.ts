/** What an application needs to send its errors: a few lines of code in its language. */
import { type Content, html } from '../../../pages/index.ts';

const languages = (dsn: string): readonly (readonly [language: string, code: string])[] => [
  ['JavaScript', `import * as Sentry from '@sentry/browser';\nSentry.init({ dsn: '${dsn}' });`],
  ['Node.js', `import * as Sentry from '@sentry/node';\nSentry.init({ dsn: '${dsn}' });`],
  ['Python', `import sentry_sdk\nsentry_sdk.init(dsn="${dsn}")`],
  ['Ruby', `require "sentry-ruby"\nSentry.init { |config| config.dsn = "${dsn}" }`],
  ['Go', `err := sentry.Init(sentry.ClientOptions{Dsn: "${dsn}"})`],
  ['PHP', `\\Sentry\\init(['dsn' => '${dsn}']);`],
  ['Java', `Sentry.init(options -> options.setDsn("${dsn}"));`],
];

/**
 * The first steps of a project without errors.
 * @param dsn the address of a key; undefined for visitors who may not see it, and without keys
 * @param settings the address of the settings, for those who may change them
 */
export const setupView = (dsn: string | undefined, settings: string | undefined): Content =>
  dsn === undefined
    ? html`<p class="soft">There are no errors yet. An application sends them with the key of the project${settings ? html`: <a href="${settings}">create one</a>` : ', which Maintainers create'}.</p>`
    : html`<h2>Waiting for the first error</h2>
<p>Put these lines at the start of your application. Any SDK of Sentry works.</p>
${languages(dsn).map(
  ([language, code], index) =>
    html`<details name="language" ?open="${index === 0}"><summary>${language}</summary><pre><code>${code}</code></pre></details>`,
)}`;
