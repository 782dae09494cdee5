-- sqlcmd -y 0 -f 65001 -i aspnet.sql -o users.jsonl
set nocount on;
select (select Email email, EmailConfirmed email_verified, 'aspnet$' + PasswordHash password_hash
  for json path, without_array_wrapper, include_null_values) from AspNetUsers where Email is not null
