/** One call of an operation in the words of four clients (docs/reference/pages.md#documentation-of-the-api). */
import { bodyOf, type Called, type Schema, successOf } from './document_rules.ts';

/** A call in a client. */
export interface Example {
  client: string;
  text: string;
}

type Given = Readonly<Record<string, unknown>>;

/** A value that the schema allows; texts say by their name what belongs there. */
function sampleOf(name: string, schema: Schema): unknown {
  const { default: usual, enum: values, const: only, anyOf, items, properties, required = [] } = schema;
  const type = [schema.type].flat().find((each) => each !== 'null');
  if (usual !== undefined && usual !== null) return usual;
  if (only !== undefined) return only;
  if (values) return values[0];
  if (anyOf?.[0]) return sampleOf(name, anyOf[0]);
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (type === 'boolean') return true;
  if (type === 'array') return [sampleOf(name, items ?? {})];
  if (type === 'object')
    return Object.fromEntries(required.map((key) => [key, sampleOf(key, properties?.[key] ?? {})]));
  if (schema.format === 'date') return '2027-01-31';
  if (schema.format === 'date-time') return '2027-01-31T12:00:00Z';
  return name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
}

/** What has to be given, or the first parameter if nothing has to. */
function givenOf(schema: Schema): Given {
  const { properties = {}, required = [] } = schema;
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, sampleOf(name, properties[name] ?? {})]));
}

const isFile = (schema: Schema | undefined): boolean => schema?.format === 'binary';

/** The path of a call, with values for its parameters, and the query that it needs. */
function addressOf({ path, parameters }: Called): { path: string; query: Given } {
  const filled = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce(
      (text, { name, schema }) => text.replace(`{${name}}`, encodeURIComponent(String(sampleOf(name, schema)))),
      path,
    );
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  return { path: filled, query: Object.fromEntries(needed.map(({ name, schema }) => [name, sampleOf(name, schema)])) };
}

const queryText = (query: Given): string => {
  const text = Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
  return text === '' ? '' : `?${text}`;
};

/** A text in single quotes of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** A value in Python. */
function inPython(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(inPython).join(', ')}]`;
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${inPython(each)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

/** A value in Go, of an untyped interface. */
function inGo(value: unknown): string {
  if (value === null) return 'nil';
  if (Array.isArray(value)) return `[]any{${value.map(inGo).join(', ')}}`;
  if (typeof value === 'object')
    return `map[string]any{${Object.entries(value)
      .map(([key, each]) => `${JSON.stringify(key)}: ${inGo(each)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

/** What the clients have in common. */
interface Call {
  url: string;
  /** Below the root of the API. */
  root: string;
  method: string;
  path: string;
  query: Given;
  body: Given;
  isList: boolean;
}

function curl({ url, root, method, path, query, body }: Call, files: readonly string[]): string {
  const fields =
    files.length > 0
      ? Object.entries(body).map(([name, value]) =>
          files.includes(name) ? `--form ${name}=@FILE` : `--form ${quoted(`${name}=${String(value)}`)}`,
        )
      : Object.keys(body).length > 0
        ? ['--json', quoted(JSON.stringify(body))]
        : [];
  return [
    'curl',
    ...(method === 'GET' ? [] : ['--request', method]),
    '--header "PRIVATE-TOKEN: $TOKEN"',
    ...fields,
    `"${url}${root}${path}${queryText(query)}"`,
  ].join(' ');
}

function python({ url, method, path, query, body, isList }: Call): string {
  const name = isList ? 'http_list' : `http_${method.toLowerCase()}`;
  const given = [
    ...(Object.keys(query).length > 0 ? [`query_data=${inPython(query)}`] : []),
    ...(Object.keys(body).length > 0 ? [`post_data=${inPython(body)}`] : []),
  ];
  return `import gitlab
gl = gitlab.Gitlab(${JSON.stringify(url)}, private_token=TOKEN)
${['GET', 'POST'].includes(method) ? 'reply = ' : ''}gl.${name}(${[JSON.stringify(path), ...given].join(', ')})`;
}

function gitbeaker({ url, method, path, query, body }: Call): string {
  const given = {
    ...(Object.keys(query).length > 0 ? { searchParams: query } : {}),
    ...(Object.keys(body).length > 0 ? { body } : {}),
  };
  const second = Object.keys(given).length > 0 ? `, ${JSON.stringify(given)}` : '';
  return `import { Gitlab } from '@gitbeaker/rest';
const api = new Gitlab({ host: ${JSON.stringify(url)}, token: TOKEN });
const { body } = await api.Projects.requester.${method.toLowerCase()}(${JSON.stringify(path.slice(1))}${second});`;
}

function go({ url, method, path, query, body, isList }: Call): string {
  const names = Object.keys(query);
  const options =
    names.length > 0
      ? `struct{ ${names.map((name, index) => `P${index} any \`url:"${name}"\``).join('; ')} }{${names.map((name) => inGo(query[name])).join(', ')}}`
      : Object.keys(body).length > 0
        ? inGo(body)
        : 'nil';
  const verb = `http.Method${method.charAt(0)}${method.slice(1).toLowerCase()}`;
  return `client, err := gitlab.NewClient(token, gitlab.WithBaseURL(${JSON.stringify(url)}))
request, err := client.NewRequest(${verb}, ${JSON.stringify(path.slice(1))}, ${options}, nil)
var reply ${isList ? '[]' : ''}map[string]any
_, err = client.Do(request, &reply)`;
}

/**
 * The smallest call of an operation in curl, python-gitlab, gitbeaker and the Go client.
 * Files are sent with curl only: each client has a method of its own for them.
 * @param url of the server
 * @param root of the API, behind it
 */
export function examplesOf(operation: Called, url: string, root: string): Example[] {
  const { method } = operation;
  const schema = bodyOf(operation);
  const body = schema && method !== 'DELETE' ? givenOf(schema) : {};
  const files = Object.keys(body).filter((name) => isFile(schema?.properties?.[name]));
  const isList = method === 'GET' && (successOf(operation).type?.words.startsWith('array') ?? false);
  const call = { url, root, method, body, isList, ...addressOf(operation) };
  if (files.length > 0) return [{ client: 'curl', text: curl(call, files) }];
  return [
    { client: 'curl', text: curl(call, []) },
    { client: 'python-gitlab', text: python(call) },
    { client: 'gitbeaker', text: gitbeaker(call) },
    { client: 'Go', text: go(call) },
  ];
}
