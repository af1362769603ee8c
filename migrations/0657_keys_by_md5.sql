-- SSH keys are looked up by the MD5 fingerprint, too, as OpenSSH used to show it. An index of an expression, because a column would rewrite the table. The Base64
-- of a key may lack its padding; a text that is none has no fingerprint, and is not refused for that.
set local lock_timeout = '5s';

create function md5_of_key(key text) returns text language plpgsql immutable parallel safe as $$
declare
  encoded text := rtrim((regexp_match(key, '^\S+\s+(\S+)'))[1], '=');
begin
  return md5(decode(encoded || repeat('=', -length(encoded) & 3), 'base64'));
exception when invalid_parameter_value then
  return null;
end
$$;
create index keys_by_md5 on keys (md5_of_key(key));
