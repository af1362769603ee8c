/** What requests say about the pipelines that they start or plan. */
import { Type } from 'typebox';
import { AnyJson, checked, nullable, optional, resource } from '../../../http/index.ts';
import { tooLong } from '../../../texts/index.ts';

/** The most variables that a pipeline is given. */
export const mostVariables = 200;

export const variableKey = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** The value of a variable, as it is given. */
export const VariableValue = Type.String({ maxLength: 100_000 });
export const VariableKind = Type.Enum(['env_var', 'file']);

/** The members of a variable that whoever starts a pipeline gives it. */
export const givenVariable = {
  key: checked(Type.String({ maxLength: 255 }), (key) => (variableKey.test(key) ? [] : ['is invalid'])),
  value: VariableValue,
  variable_type: optional(VariableKind),
};

/** The variables that whoever starts a job gives it. */
export const JobVariables = optional(
  Type.Array(Type.Object({ key: givenVariable.key, value: VariableValue }), { maxItems: mostVariables }),
);

/** What something that starts pipelines is for. */
export const Description = () =>
  checked(Type.String({ description: 'At most 255 characters' }), (text) =>
    text.trim() === '' ? ["can't be blank"] : tooLong(text, 255),
  );

export const Inputs = Type.Record(Type.String(), AnyJson('Values for the inputs that the configuration declares'));

export const PipelineVariable = resource('PipelineVariable', {
  variable_type: VariableKind,
  key: Type.String(),
  value: nullable(Type.String({ description: 'Null where it cannot be decrypted' })),
  raw: Type.Boolean(),
});
