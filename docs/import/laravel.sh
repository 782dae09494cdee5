#!/bin/sh
mysql -N -B --raw -e "select json_object('email', email, 'password_hash', password) from users" laravel
