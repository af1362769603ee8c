/** Runs the cases in `cases/*.md`. A case is a heading with the configuration in a block `yaml`, and what comes of it in blocks after that; `cases/README.md` lists them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { compile } from './compile.ts';
import { globMatcher } from './globs.ts';
import type { CompileInput, CompileResult, FileRefusal, FileRequest } from './types.ts';
import { plainOf } from './values.ts';
import { readYaml } from './yaml.ts';

const folder = path.join(import.meta.dirname, 'cases');
const fence = /^```(\w+)(?: (.+))?\n([\s\S]*?)^```$/gm;

interface Block {
  kind: string;
  name: string | undefined;
  text: string;
}

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(fence)].map(([, kind, name, content = '']) => ({ kind: kind!, name, text: content.trimEnd() }));

/** A block of YAML as plain data. */
const dataIn = (text: string): unknown => JSON.parse(JSON.stringify(plainOf(readYaml(text).documents[0]!.value)));

/** A file by the name of its block: `path.yml`, `group/project:path.yml`, `group/project@ref:path.yml`, `job of artifact: path.yml` or an address. */
function nameOf(request: FileRequest): string {
  if (request.type === 'remote') return request.url;
  if (request.type === 'artifact') return `artifact of ${request.job}: ${request.path}`;
  if (request.type === 'local') {
    const { project, sha } = request.context;
    return project === 'orchard/apples' ? request.path : `${project}@${sha}:${request.path}`;
  }
  return `${request.project}${request.ref === undefined ? '' : `@${request.ref}`}:${request.path}`;
}

/** What a case says about the world around its configuration. */
interface Around {
  variables?: Record<string, string>;
  inputs?: Record<string, unknown>;
  masked?: string[];
  holds?: string[];
  refusals?: Record<string, FileRefusal>;
}

function inputOf(blocks: readonly Block[]): CompileInput {
  const [main, ...others] = blocks.filter(({ kind }) => kind === 'yaml');
  const files = new Map(others.map(({ name, text }) => [name, text]));
  const around = blocks.find(({ kind }) => kind === 'around');
  const { variables = {}, inputs, masked, refusals = {}, holds = [] } = (around ? dataIn(around.text) : {}) as Around;
  const context = { project: 'orchard/apples', sha: 'main' };
  const paths = async () => [...files.keys()].map(String);
  return {
    content: main?.text ?? '',
    context,
    files: {
      paths,
      read: async (request) => {
        const name = nameOf(request);
        const content = files.get(name);
        if (content === undefined) return refusals[name] ?? { refused: 'file_missing' };
        const sha = request.type === 'project' ? (request.ref ?? 'main') : 'main';
        return {
          content,
          context:
            request.type === 'local'
              ? request.context
              : request.type === 'project'
                ? { project: request.project, sha }
                : undefined,
          blob: request.type === 'remote' ? null : `blob/${name}`,
          raw: request.type === 'remote' ? name : `raw/${name}`,
        };
      },
    },
    variables: new Map(Object.entries(variables)),
    holds: async (clauses) => {
      if (clauses.if !== undefined && !holds.includes(clauses.if)) return false;
      const all = await paths();
      return clauses.exists?.paths.some((glob) => all.some(globMatcher(glob))) ?? true;
    },
    ...(inputs && { inputs }),
    ...(masked && { masked }),
  };
}

/** The members of a value that a case names; lists are compared whole. */
function namedIn(value: unknown, expected: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(expected))
    return value.map((item, index) => namedIn(item, expected[index]));
  if (typeof value !== 'object' || value === null || typeof expected !== 'object' || expected === null) return value;
  return Object.fromEntries(
    Object.keys(expected).map((key) => [
      key,
      namedIn((value as Record<string, unknown>)[key] ?? null, (expected as Record<string, unknown>)[key]),
    ]),
  );
}

/** What a block is about, of a result. */
const parts: Readonly<Record<string, (result: CompileResult) => unknown>> = {
  jobs: ({ jobs }) => Object.fromEntries(jobs.map(({ name, ...job }) => [name, job])),
  stages: ({ stages }) => stages,
  variables: ({ variables }) => variables,
  workflow: ({ workflow }) => workflow,
  includes: ({ includes }) => includes,
};

function check({ kind, text }: Block, result: CompileResult): void {
  if (kind === 'yaml' || kind === 'around') return;
  if (kind === 'errors' || kind === 'warnings') assert.equal(result[kind].join('\n'), text);
  else if (kind === 'merged') assert.equal(result.merged_yaml, `---\n${text}\n`);
  else {
    const part = parts[kind];
    assert.ok(part, `${kind} is no kind of block`);
    const [actual, expected] = [JSON.parse(JSON.stringify(part(result))), dataIn(text)];
    if (kind === 'jobs') assert.deepEqual(Object.keys(actual), Object.keys(expected as object));
    assert.deepEqual(namedIn(actual, expected), expected);
  }
}

for (const file of globSync('*.md', { cwd: folder }).sort()) {
  const [, ...cases] = readFileSync(path.join(folder, file), 'utf8').split(/^## /m);
  for (const each of cases) {
    const [title] = each.split('\n', 1);
    test(`${file}: ${title}`, async () => {
      const blocks = blocksOf(each);
      const result = await compile(inputOf(blocks));
      if (!blocks.some(({ kind }) => kind === 'errors')) assert.deepEqual(result.errors, []);
      for (const block of blocks) check(block, result);
    });
  }
}
