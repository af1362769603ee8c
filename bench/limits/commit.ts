/** The limit of a commit that adds a file: a bare handler that starts `git fast-import` for it. Those of a branch take turns, or git would refuse them. */
import Fastify from 'fastify';
import { commitOf, fastImport } from '../seed.ts';

interface Body {
  branch: string;
  actions: [{ file_path: string; content: string }];
}

const [repository] = process.argv.slice(2);
let count = 0;
let last: Promise<unknown> = Promise.resolve();

const app = Fastify();
app.post<{ Body: Body }>('/', async ({ body: { branch, actions } }) => {
  const [{ file_path, content }] = actions;
  const commit = commitOf(count++, branch, file_path, content);
  const onTop = commit.replace(/(data \d+\nChange \d+\n)/, `$1from refs/heads/${branch}^0\n`);
  last = last.then(() => fastImport(repository!, [onTop]));
  await last;
  return {};
});
console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
