-- The newest of equal licences is the one in effect.
delete from licenses older using licenses newer where newer.text = older.text and newer.id > older.id;
create unique index licenses_text_key on licenses (md5(text));
