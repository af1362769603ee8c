/** The limit of reading from a repository: a bare handler over one cat-file process, without authentication and without SQL. */
import { spawn } from 'node:child_process';
import Fastify from 'fastify';

const [repository] = process.argv.slice(2);
const reader = spawn('git', ['-C', repository!, 'cat-file', '--batch'], { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting: ((content: Buffer) => void)[] = [];
let received: Buffer = Buffer.alloc(0);

reader.stdout.on('data', (chunk: Buffer) => {
  received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
  for (;;) {
    const lineEnd = received.indexOf(10);
    if (lineEnd < 0) return;
    const size = Number(received.subarray(0, lineEnd).toString().split(' ')[2]);
    const end = lineEnd + 1 + size + 1;
    if (received.length < end) return;
    waiting.shift()?.(received.subarray(lineEnd + 1, end - 1));
    received = received.subarray(end);
  }
});

const read = (object: string) =>
  new Promise<Buffer>((resolve) => {
    waiting.push(resolve);
    reader.stdin.write(`${object}\n`);
  });

interface Asked {
  Querystring: { object: string };
}

const app = Fastify();
app.get<Asked>('/json', async ({ query }) => ({ content: (await read(query.object)).toString('base64') }));
app.get<Asked>('/raw', async ({ query }) => read(query.object));
console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
