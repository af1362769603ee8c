/** The servers and job processes of the site (docs/operating.md#more-than-one-machine). */
import { chip, html, time } from '../../../pages/index.ts';
import { settingsPage } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';

const words: Readonly<Record<string, string>> = { requests: 'answers requests', jobs: 'runs jobs' };

export const nodesPage = settingsPage(
  'admin',
  'nodes',
  [
    listPart('node', {
      list: 'listNodes',
      names: () => ({}),
      title: 'name',
      head: (node) =>
        html`<strong>${textOf(node, 'name')}</strong> ${chip(node.running === true ? 'running' : 'silent')}`,
      line: (node) => [
        dotted([
          (node.roles as string[]).map((role) => words[role] ?? role).join(', '),
          textOf(node, 'version'),
          `process ${textOf(node, 'process_id')} on ${textOf(node, 'host')}`,
        ]),
        html`<div>Started ${time(textOf(node, 'started_at'))}, last seen ${time(textOf(node, 'seen_at'))}</div>`,
      ],
      empty: 'No server has registered.',
    }),
  ],
  { intro: 'A server says every ten seconds that it runs. One that has ended without notice is listed for a day.' },
);
